"""The tables' contracts, by how their rows live."""
