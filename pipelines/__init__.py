"""The protocol: prepare, transfer, evaluate, analyse, publish; the command line."""
