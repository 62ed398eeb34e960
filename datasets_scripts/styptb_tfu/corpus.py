"""StylePTB's raw files for the change to future tense."""

from ..layouts import parallel_corpus

CORPUS = parallel_corpus("styptb_tfu", "styleptb_TFU")
