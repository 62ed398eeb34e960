"""How ``meaning_v1`` was trained: on pairs of sentences, styles changed, meanings damaged."""
