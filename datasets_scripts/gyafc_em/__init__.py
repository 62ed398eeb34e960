"""GYAFC, entertainment and music: raw files, builder, card."""
