#!/bin/sh
# What a GPU does with it: installs what the benchmark needs, runs it, and writes gpu.json.
#   bash benchmarks/gpu.sh                       on a machine with a GPU of 24 GB or more
#   bash benchmarks/gpu.sh --device cpu --tiny   anywhere: only that all of it runs
set -eu
cd "$(dirname "$0")/.."
make install
exec .venv/bin/python benchmarks/gpu.py "$@"
