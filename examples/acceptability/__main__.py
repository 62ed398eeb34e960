"""Train the acceptability classifier, as ``acceptability_v1`` was: ``python -m acceptability``.

It needs the training sentences of Yelp, Amazon and Shakespeare, the inputs of Mir et al.'s (2019)
study, which are left out, and CoLA; what is not at hand is downloaded.
"""

import sys

from tstbench.errors import TSTBenchError

from .broken import train_cola

try:
    artefact = train_cola()
except TSTBenchError as error:
    sys.exit(str(error))
for name, value in artefact.card.scores.items():
    print(f"{name}\t{value:.4f}")
print(f"--scorer acceptability={artefact.folder}")
