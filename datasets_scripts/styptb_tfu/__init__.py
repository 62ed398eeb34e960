"""StylePTB, to future tense: raw files, builder, card."""
