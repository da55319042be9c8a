"""The fault lab: a real three-broker Kafka cluster on this machine, a workload, faults with ground truth, the judge."""
