"""GYAFC's files on family and relationships."""

from ..layouts import gyafc_corpus

CORPUS = gyafc_corpus("gyafc_fr", "Family_Relationships")
