"""GYAFC, family and relationships: raw files, builder, card."""
