"""The arithmetic of the metrics, as plain typed functions."""
