"""One file per rule; each says in one sentence what it finds."""
