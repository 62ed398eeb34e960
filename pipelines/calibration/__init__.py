"""Calibrating Joint: from people's ratings to curves, weights, and how far they hold elsewhere."""
