"""The Wiki Neutrality Corpus, whole: edits of one word and of several."""
