"""Corpus of Diverse Styles: eleven styles, 1,000 sentences each."""
