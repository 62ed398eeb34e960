"""The Hub, seen from here: what it holds as git repositories, served on loopback, pushed for real.

- :mod:`.build`: which artefacts there are, and where they come from
- :mod:`.repositories`: one git repository per artefact, one commit per change
- :mod:`.guard`: what may never be published, whatever it is called
- :mod:`.serve`: the Hub's reading protocol on loopback, for machines without internet
- :mod:`.push`: the same repositories on huggingface.co
"""
