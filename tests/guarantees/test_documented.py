import re
from pathlib import Path

from guarantees.findings import Kind

FINDINGS = Path(__file__).parents[2] / "docs" / "findings.md"


def test_every_kind_of_finding_is_explained_and_nothing_else_is():
    first_cells = [line.split("|")[1] for line in FINDINGS.read_text().splitlines() if line.startswith("| `")]

    assert re.findall(r"`(\w+)`", " ".join(first_cells)) != []
    assert sorted(re.findall(r"`(\w+)`", " ".join(first_cells))) == sorted(Kind)
