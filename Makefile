# One virtual environment in .venv, set up from the hashed lock on first use of any target.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
HOST ?= 127.0.0.1
PORT ?= 3000

.DEFAULT_GOAL := help
.PHONY: help setup demo demo-preference demo-criteria test test-quick lint format ui docs lock audit clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-15s %s\n", $$1, $$2}'

setup: $(READY) ## install everything into .venv (first run: a few minutes, about 2 GB)

$(READY): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' || \
	  { echo "judge_pipeline needs Python 3.11 to 3.13; $(PYTHON) is $$($(PYTHON) -V). Try: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Installing the locked packages into $(VENV) ..."
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --no-deps --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@echo "Compiling to bytecode ..."
	@$(BIN)/python -m compileall -q -j 0 $(VENV)/lib >/dev/null 2>&1 || true
	@touch $(READY)

demo: $(READY) ## run the sample contest end to end with embedded judges, print the headline figures
	@$(BIN)/judge-pipeline demo

demo-preference: $(READY) ## run the sample preference set with judges that need no key, print the headline figures
	@$(BIN)/judge-pipeline demo --preference

demo-criteria: $(READY) ## judge the sample preference set criterion by criterion with a scripted judge
	@$(BIN)/judge-pipeline demo --criteria

ui: $(READY) ## start the Dagster UI on loopback (HOST=..., PORT=...)
	@$(BIN)/judge-pipeline ui --host $(HOST) --port $(PORT)

lint: $(READY) ## ruff (lint and format), mypy strict on the core, import rules
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(READY) ## let ruff mend what it can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# Four workers for two processors: many slow tests wait for daemons and providers most of their time.
test: lint ## lint, types, and the whole suite
	$(BIN)/pytest -n 4 --dist loadgroup

test-quick: $(READY) ## the quick part of the suite, with fewer drawn examples: about 2 minutes
	$(BIN)/pytest -n 2 --dist worksteal -m "not slow" --hypothesis-profile quick

lock: $(READY) ## resolve the dependencies anew into requirements.lock (hashes, no index)
	$(BIN)/uv pip compile pyproject.toml --group dev --universal --python-version 3.11 --upgrade \
	  --generate-hashes --no-annotate --no-header -o requirements.lock

audit: $(READY) ## hold the locked packages against known vulnerabilities (.ci/audit_allowed.yaml: those lived with)
	$(BIN)/python .ci/audit_dependencies.py

clean: ## remove what runs have produced (var/), keep .venv
	rm -rf var

docs: $(READY) ## write the reference pages that follow from the code
	$(BIN)/python docs/generate_reference.py
