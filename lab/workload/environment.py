"""The environment in which processes of the workload find the lab's modules."""

import os
from pathlib import Path


def workload_environment() -> dict[str, str]:
    """The workload's modules are found beside this one, wherever the lab was started from."""
    root = str(Path(__file__).parents[2])
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, (root, os.environ.get("PYTHONPATH"))))}
