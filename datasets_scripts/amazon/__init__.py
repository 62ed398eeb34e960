"""Amazon: raw files, builder, card."""
