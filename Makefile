# `make demo` and `make test` are all a newcomer needs; both install what they use into .venv.
# Where torch would otherwise pull gigabytes of CUDA (an ordinary Linux machine without a GPU):
#   make demo PIP_TORCH="--extra-index-url https://download.pytorch.org/whl/cpu"
PY ?= python3
VENV ?= .venv
PIP_TORCH ?=
PIP := $(VENV)/bin/python -m pip --disable-pip-version-check
RUN := $(VENV)/bin

.PHONY: install demo test lint golden benchmarks clean

install: $(VENV)/.stamp
$(VENV)/.stamp: pyproject.toml setup.py constraints.txt
	$(PY) -m venv $(VENV)
	$(PIP) install -q -U pip
	$(PIP) install -q $(PIP_TORCH) -c constraints.txt torch==2.13.0
	$(PIP) install -q -c constraints.txt -e '.[dev]'
	touch $@

demo: install
	$(RUN)/tstbench run examples/demo.toml

test: install
	$(RUN)/python -m pytest -q

lint: install
	$(RUN)/ruff check .
	$(RUN)/ruff format --check .
	$(RUN)/python tests/typecheck.py

golden: install
	for script in tests/golden/record_*.py; do $(RUN)/python $$script || exit 1; done

benchmarks: install
	for script in benchmarks/bench_*.py; do $(RUN)/python $$script || exit 1; done

clean:
	rm -rf $(VENV) demo build dist *.egg-info
