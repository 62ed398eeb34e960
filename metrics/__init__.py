"""Metrics of text style transfer: plain functions, scorers, and ``evaluate`` modules."""
