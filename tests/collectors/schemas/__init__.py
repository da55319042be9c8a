"""Apache Kafka's message schemas that kafka-python does not bundle and Tidemark does not send; see NOTICE."""
