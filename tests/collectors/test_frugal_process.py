"""A process that only makes rounds carries nothing it has no use for; asked of one of its own, since it is for good."""

import subprocess
import sys

ARROW_OF_LISTS = """
import sys
import pyarrow as pa
{frugal}
pa.array([1, 2]), pa.table({{"a": pa.array(["x"])}})
print("pandas" in sys.modules, pa.default_memory_pool().backend_name)
"""
FRUGAL = "from collectors.frugal_process import be_frugal; be_frugal()"


def told_by_a_process(frugal):
    code = ARROW_OF_LISTS.format(frugal=frugal)
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split()


def test_columns_are_made_without_pandas_and_their_memory_goes_back_to_the_system():
    assert told_by_a_process(FRUGAL) == ["False", "system"]


def test_the_command_line_alone_loads_nothing_that_writes_reports_as_pdf():
    code = "import sys, cli.main; print('fpdf' in sys.modules)"

    assert subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout == "False\n"


def test_any_other_process_has_pandas_where_arrow_wants_it():
    assert told_by_a_process("")[0] == "True"
