"""Analysis of a results folder: what its numbers show, as data, before anything is drawn."""
