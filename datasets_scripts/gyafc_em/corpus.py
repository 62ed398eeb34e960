"""GYAFC's files on entertainment and music."""

from ..layouts import gyafc_corpus

CORPUS = gyafc_corpus("gyafc_em", "Entertainment_Music")
