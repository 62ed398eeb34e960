"""The version of the package, which every room may name."""

__version__ = "0.1.0"
