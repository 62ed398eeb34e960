"""Train the acceptability classifier, as ``acceptability_v1`` was: ``python -m acceptability``.

It needs the training sentences of Yelp, Amazon and Shakespeare, the inputs of Mir et al.'s (2019)
study, which are left out, and CoLA; what is not at hand is downloaded. It takes minutes.
"""

import argparse
import sys

from tstbench.errors import TSTBenchError

from .broken import train_cola

argparse.ArgumentParser(prog="python -m acceptability", description=__doc__).parse_args()
try:
    artefact = train_cola()
except TSTBenchError as error:
    print(f"python -m acceptability: {error}", file=sys.stderr)
    sys.exit(2)
for name, value in artefact.card.scores.items():
    print(f"{name}\t{value:.4f}")
print(f"--scorer acceptability={artefact.folder}")
