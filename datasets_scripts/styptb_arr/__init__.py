"""StylePTB, adjective and adverb removal: raw files, builder, card."""
