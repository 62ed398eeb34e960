# To get started: `make demo` and `make test`. Both install what they need into .venv.
# On Linux without a GPU, to avoid downloading gigabytes of CUDA with torch:
#   make demo PIP_TORCH="--extra-index-url https://download.pytorch.org/whl/cpu"
PY ?= python3
VENV ?= .venv
PIP_TORCH ?=
PIP := $(VENV)/bin/python -m pip --disable-pip-version-check
RUN := $(VENV)/bin
# Processes that share the tests.
WORKERS ?= 2

.PHONY: install demo test faults lint docs golden benchmarks clean

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
	$(RUN)/python -m pytest -q -n $(WORKERS) --dist loadfile

faults: install
	TSTBENCH_FAULTS=20 $(RUN)/python -m pytest -q tests/faults

lint: install
	$(RUN)/ruff check .
	$(RUN)/ruff format --check .
	$(RUN)/python tests/typecheck.py

docs: install
	$(RUN)/python -m mkdocs build --strict

golden: install
	for script in tests/golden/record_*.py; do $(RUN)/python $$script || exit 1; done

benchmarks: install
	for script in benchmarks/bench_*.py; do $(RUN)/python $$script || exit 1; done

clean:
	rm -rf $(VENV) demo build dist site *.egg-info
