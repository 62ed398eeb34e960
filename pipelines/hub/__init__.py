"""Publishing to the Hub: folders with a manifest, served locally or pushed to huggingface.co.

- :mod:`.build`: the artefacts and where they come from
- :mod:`.manifest`: one folder per artefact, written whole, each file with its hash
- :mod:`.guard`: what must never be published, whatever its name; :mod:`.known_files`: what may be
- :mod:`.serve`: the Hub's reading protocol on loopback, for machines without internet
- :mod:`.push`: pushing the same repositories to huggingface.co
"""
