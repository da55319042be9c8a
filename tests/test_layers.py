"""The dependency rule, as a test: who may import what."""

import ast
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LAYERS = [
    "guarantees",
    "kafka_reader",
    "store",
    "collectors",
    "spark_jobs",
    "dashboard",
    "cli",
    "lab",
    "benchmarks",
    "app.py",
    "settings",
]

# Package -> the only places that may import it.
ONLY_IN = {
    "confluent_kafka": {
        *{"lab", "benchmarks/collectors", "benchmarks/audit_topics.py", "benchmarks/plain_reading.py"},
    },
    "kafka": {"kafka_reader", "lab"},
    "kafka_reader": {"kafka_reader", "collectors", "spark_jobs", "cli", "lab", "benchmarks/plain_reading.py"},
    "pyspark": {"spark_jobs", "benchmarks/spark_reading.py"},
    "duckdb": {"store", "dashboard/queries.py", "dashboard/reports/as_duckdb.py"},
    "cachetools": {"dashboard/remembered.py", "store/kept_views.py"},
    "fpdf": {"dashboard/reports/as_pdf.py", "dashboard/reports/pdf_text.py"},
    "plotly": {"dashboard/charts"},
    "streamlit": {
        "app.py",
        "dashboard/pages",
        "dashboard/components",
        "dashboard/server.py",
        "lab/page.py",
        "benchmarks/empty_page.py",
        "benchmarks/sessions.py",
    },
}
# Layer -> layers it must not know.
FORBIDDEN = {
    "kafka_reader": {"store", "collectors", "spark_jobs", "dashboard", "cli", "lab", "benchmarks"},
    "store": {"kafka_reader", "collectors", "spark_jobs", "dashboard", "cli", "lab", "benchmarks"},
    "collectors": {"spark_jobs", "dashboard", "cli", "lab", "benchmarks"},
    "spark_jobs": {"collectors", "dashboard", "cli", "lab", "benchmarks"},
    "dashboard": {"kafka_reader", "collectors", "spark_jobs", "cli", "lab", "benchmarks"},
    "cli": {"lab", "benchmarks"},
    "lab": {"benchmarks"},
    "app.py": {"lab", "benchmarks"},
    # The core is below the settings: they may use its names of promises.
    "settings": {"kafka_reader", "store", "collectors", "spark_jobs", "dashboard", "cli", "lab", "benchmarks"},
}
# The core may use the standard library, but not its clocks, files, sockets and logs.
IMPURE = {
    *{"os", "io", "pathlib", "tempfile", "shutil", "glob", "fileinput", "sqlite3", "dbm", "shelve"},
    *{
        "time",
        "random",
        "secrets",
        "logging",
        "signal",
        "subprocess",
        "threading",
        "multiprocessing",
        "concurrent",
        "asyncio",
    },
    *{"socket", "socketserver", "ssl", "select", "selectors", "http", "urllib", "ftplib", "smtplib"},
}
PURE = (set(sys.stdlib_module_names) - IMPURE) | {"guarantees"}


def python_files(place):
    path = ROOT / place
    files = [path] if path.is_file() else sorted(path.rglob("*.py"))
    assert files, f"{place} is empty or was renamed: this rule checks nothing"
    return files


def imported_modules(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def is_within(module, package):
    return module == package or module.startswith(f"{package}.")


def imports(place):
    return [(path.relative_to(ROOT), module) for path in python_files(place) for module in imported_modules(path)]


@pytest.mark.parametrize("package", ONLY_IN)
def test_package_is_imported_only_where_allowed(package):
    assert not [
        (path, module)
        for layer in LAYERS
        for path, module in imports(layer)
        if is_within(module, package) and not any(path.is_relative_to(place) for place in ONLY_IN[package])
    ]


@pytest.mark.parametrize("layer", FORBIDDEN)
def test_layer_does_not_know_the_layers_above_it(layer):
    assert not [
        (path, module)
        for path, module in imports(layer)
        if any(is_within(module, package) for package in FORBIDDEN[layer])
    ]


def test_core_imports_only_the_pure_standard_library():
    assert not [(path, m) for path, m in imports("guarantees") if m.partition(".")[0] not in PURE]
