"""`python -m benchmarks.collectors.contender NAME BOOTSTRAP [BINARY]`: one contender in a process of its own."""

import importlib
import sys

from benchmarks.collectors.measured import tell


def main() -> None:
    name, *arguments = sys.argv[1:]
    for line in importlib.import_module(f"benchmarks.collectors.{name}").measured(*arguments):
        tell(line)


if __name__ == "__main__":
    main()
