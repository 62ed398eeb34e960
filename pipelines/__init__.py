"""The protocol: prepare, transfer, evaluate, analyse, publish."""
