"""The `tidemark` command: one file per subcommand, and `up`, which starts and supervises the parts."""
