"""The lab's administrative client, built in one place."""

from confluent_kafka.admin import AdminClient


def admin_client(bootstrap: str) -> AdminClient:
    """Keep it by name while its answers are awaited: they never come once it is collected.

    A broker that is not up, or no longer, is normal in the lab: the client keeps that to itself.
    """
    return AdminClient({"bootstrap.servers": bootstrap, "client.id": "tidemark-lab", "log_level": 0})
