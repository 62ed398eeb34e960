"""Yelp: raw files, builder, card."""
