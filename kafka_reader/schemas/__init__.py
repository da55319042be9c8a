"""Apache Kafka's message schemas that kafka-python does not bundle; see NOTICE."""
