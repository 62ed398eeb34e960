"""Wiki Neutrality Corpus: subjective sentences and their neutral edits."""
