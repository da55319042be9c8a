"""Table contracts, the Parquet segment log and the DuckDB metrics database. No Kafka, no Spark, no Streamlit."""
