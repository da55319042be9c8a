"""What the store raises; each class answers whether trying again can help."""


class StoreError(Exception):
    """The store cannot do what was asked; the message says why."""


class StoreLockedError(StoreError):
    """Another process already has this role; two would overwrite each other. Stop the other one first."""


class StoreBusyError(StoreError):
    """metrics.duckdb stayed locked until the deadline; the next attempt may succeed."""


class QueryError(StoreError):
    """A query of the SQL door was refused, failed or was ended; the message says why."""
