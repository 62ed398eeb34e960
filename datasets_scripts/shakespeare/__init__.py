"""Shakespeare: raw files, builder, card."""
