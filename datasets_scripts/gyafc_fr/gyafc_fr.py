"""GYAFC on family and relationships."""

from ..gyafc_em.gyafc_em import gyafc_corpus

CORPUS = gyafc_corpus("gyafc_fr", "Family & Relationships", "Family_Relationships")
