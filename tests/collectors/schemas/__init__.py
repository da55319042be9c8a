"""Apache Kafka's message schemas of a Streams member, which kafka-python does not bundle; see NOTICE."""
