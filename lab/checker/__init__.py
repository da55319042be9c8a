"""The second judge: client histories checked with the definitions of Jepsen's Kafka workload. Pure.

It knows nothing of what was injected and nothing of the monitor: only what clients sent, polled and were told.
"""
