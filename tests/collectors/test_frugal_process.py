"""A process that only makes rounds carries nothing it has no use for; asked of one of its own, since it is for good."""

import subprocess
import sys

import pytest

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


ANSWERS = """
import platform, resource, sys, threading
from collectors.frugal_process import keep_large_blocks
keep_large_blocks()
def read():
    for number in range(20):
        bytearray(b"x") * (8_000_000 + 10_000 * number)
reader = threading.Thread(target=read)
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
reader.start(), reader.join()
print(platform.libc_ver()[0] or "none", resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def test_answers_of_megabytes_lie_one_after_another_in_memory_that_is_kept():
    asked = subprocess.run([sys.executable, "-c", ANSWERS], check=True, capture_output=True, text=True)
    library, faults = asked.stdout.split()

    if library != "glibc":
        pytest.skip("only glibc can be told to keep it")
    assert int(faults) < 3 * 8_000_000 // 4096, "twenty answers in the pages of one or two"


def test_the_command_line_alone_loads_nothing_that_writes_reports_as_pdf():
    code = "import sys, cli.main; print('fpdf' in sys.modules)"

    assert subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout == "False\n"


def test_any_other_process_has_pandas_where_arrow_wants_it():
    assert told_by_a_process("")[0] == "True"
