"""Publishing to the Hub: folders with a manifest, served locally or pushed to huggingface.co.

- :mod:`.build`: the artefacts and where they come from; :mod:`.cards`: their cards
- :mod:`.eval_results`: the Hub's leaderboards, and what models report there
- :mod:`.manifest`: one folder per artefact, written whole, each file with its hash
- :mod:`.licensed`: one search for quotes of a licensed corpus, in all that leaves
- :mod:`.serve`: the Hub's reading protocol on loopback, for machines without internet
- :mod:`.push`: pushing the same repositories to huggingface.co
"""
