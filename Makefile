# `make` alone explains itself and changes nothing.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
.DEFAULT_GOAL := help
.PHONY: help demo run test test-live test-pages test-core test-fast truth lint mutate screenshots clean

help: ## what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(VENV)/.runtime ## a real Kafka cluster on this machine, four delivery failures, and the page that proves them
	@exec $(BIN)/python -m lab demo

run: $(VENV)/.runtime ## watch your own cluster: make run BOOTSTRAP=host:9092, or with a tidemark.toml
	@exec $(BIN)/tidemark up $(if $(BOOTSTRAP),--bootstrap $(BOOTSTRAP),--settings $(or $(SETTINGS),tidemark.toml))

test: $(VENV)/.development ## all tests, on a real cluster, Spark and Chromium (about 25 minutes on two cores)
	@echo "Three runs, two of them at a time; each prints when it is over."
	@$(MAKE) --no-print-directory --jobs=2 --keep-going --output-sync=target test-pages test-live test-core

test-live: $(VENV)/.development ## the tests that need the cluster or Spark
	$(BIN)/python -m pytest -m "integration or spark"

test-pages: $(VENV)/.development ## the tests of the pages, with Chromium
	$(BIN)/python -m pytest tests/dashboard -m "not integration and not spark"

test-core: $(VENV)/.development ## all others
	$(BIN)/python -m pytest --ignore=tests/dashboard -m "not integration and not spark"

test-fast: $(VENV)/.development ## the tests that need no Kafka, Spark or browser (some minutes)
	$(BIN)/python -m pytest -m "not integration and not spark and not browser"

truth: $(VENV)/.runtime ## every fault and control for real, three times, and docs/truth.md (40 minutes on two cores): make truth ONLY=S7
	$(BIN)/python -m lab truth $(if $(ONLY),--only $(ONLY)) $(if $(SEED),--seed $(SEED)) $(if $(AGAIN),--again)

lint: $(VENV)/.development ## style, formatting and types
	$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/mypy

mutate: $(VENV)/.development ## break the pure core on purpose and list what no test noticed: make mutate ONLY='guarantees.rules.rewind*'
	$(BIN)/mutmut run $(if $(ONLY),'$(ONLY)') && $(BIN)/mutmut results

screenshots: $(VENV)/.development ## every page and state in light and dark, into docs/images
	$(BIN)/python -m tests.dashboard.screenshots docs/images

clean: ## remove the virtual environment and everything the tests made
	rm -rf $(VENV) build *.egg-info .pytest_cache .ruff_cache .mypy_cache .hypothesis mutants

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Tidemark needs Python 3.11 or newer; this is $$($(PYTHON) --version). Try: make PYTHON=python3.12 ..."; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { echo "No virtual environment could be made. On Debian: apt-get install python3-venv"; exit 1; }

$(VENV)/.runtime: $(VENV)/bin/python requirements.txt pyproject.toml
	@echo "Installing the pinned dependencies into $(VENV) (about two minutes the first time) ..."
	@$(BIN)/pip install --quiet --disable-pip-version-check -r requirements.txt || \
	  { echo "The dependencies could not be installed. Is the package index reachable? See the lines above."; exit 1; }
	@$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --editable .
	@command -v java >/dev/null || [ -n "$$JAVA_HOME" ] || { echo "No Java found: installing one into $(VENV) ..." && \
	  $(BIN)/pip install --quiet --disable-pip-version-check -r requirements-java.txt; }
	@touch $@

$(VENV)/.development: $(VENV)/.runtime requirements-dev.txt
	@$(BIN)/pip install --quiet --disable-pip-version-check -r requirements-dev.txt
	@touch $@
