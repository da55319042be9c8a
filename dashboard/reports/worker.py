"""Makes one report in every format, in a process of its own: `python -m dashboard.reports.worker KIND SUBJECT …`.

The page starts it: what takes long must not hold up other sessions, and can be ended. Each step is one line on stdout.
"""

import argparse
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from dashboard import configured
from dashboard.reports.making import KINDS, NothingToReportError, Request, make
from dashboard.reports.writing import FORMATS, NotWrittenError, write
from settings import SettingsError

NICENESS = 10  # the pages come first


def main(argv: Sequence[str]) -> int:
    """0: every format lies in the folder as `report.SUFFIX`; 2: it cannot be made, and stderr says why."""
    parser = argparse.ArgumentParser(prog="report", description=__doc__)
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("subject")
    parser.add_argument("from_ms", type=int)
    parser.add_argument("to_ms", type=int)
    parser.add_argument("folder", type=Path)
    asked = parser.parse_args(argv)
    os.nice(NICENESS)
    try:
        _make(Request(asked.kind, asked.subject, asked.from_ms, asked.to_ms), asked.folder)
    except (SettingsError, NothingToReportError, NotWrittenError) as exc:
        print(exc, file=sys.stderr)
        return 2
    return 0


def say(step: str) -> None:
    print(step, flush=True)


def _make(request: Request, folder: Path) -> None:
    document = make(configured.page_settings(os.environ), request, time.time_ns() // 1_000_000, say)
    for number, (name, known) in enumerate(FORMATS.items(), start=1):
        say(f"writing {name}, {number} of {len(FORMATS)}")
        write(document, name, folder / f"report{known.suffix}")
    say(f"{document.title}\t{document.checksum}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
