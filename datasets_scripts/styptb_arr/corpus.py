"""StylePTB's raw files for the removal of adjectives and adverbs."""

from ..layouts import parallel_corpus

CORPUS = parallel_corpus("styptb_arr", "styleptb_ARR")
