"""The pure core: what was observed, what it means, which promise it breaks. Standard library only."""
