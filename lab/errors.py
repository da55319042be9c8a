"""What the lab says when it cannot do its work."""


class LabError(Exception):
    """One sentence that says what is missing and what to do about it."""
