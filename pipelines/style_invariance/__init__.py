"""How far sentence embeddings keep style out, measured on a dataset of labelled sentences."""
