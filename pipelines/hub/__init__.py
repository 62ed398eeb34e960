"""Publishing to the Hub: git repositories, served locally or pushed to huggingface.co.

- :mod:`.build`: the artefacts and where they come from; the same names, to be loaded from a folder
- :mod:`.repositories`: reading, one git repository per artefact
- :mod:`.writing`: writing, one commit per change
- :mod:`.guard`: what must never be published, whatever its name; :mod:`.known_files`: what may be
- :mod:`.one_writer`: one writer at a time, and what a killed one left
- :mod:`.serve`: the Hub's reading protocol on loopback, for machines without internet
- :mod:`.push`: pushing the same repositories to huggingface.co
"""
