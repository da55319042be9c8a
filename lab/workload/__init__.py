"""The processes of the workload. Each runs alone, so that it can be killed, and writes down what it sees and does."""
