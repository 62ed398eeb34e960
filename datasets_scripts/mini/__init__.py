"""Mini: raw files, builder, card."""
