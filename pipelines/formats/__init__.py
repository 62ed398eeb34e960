"""A ranked table in every format, one module each: pure functions from a table to text."""
