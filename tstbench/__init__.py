"""TSTBench: the benchmark for text style transfer.

The rooms, bottom to top; a lower one never imports a higher one:

- :mod:`tstbench.datasets_scripts`: directions, upstream sources, one builder per dataset
- :mod:`tstbench.metrics`: one ``evaluate`` module per metric, and the scorers they use
- :mod:`tstbench.trainers`: one module per algorithm, and the trainers of the scorers
- :mod:`tstbench.pipelines`: prepare, transfer, evaluate, publish; the command line
- :mod:`tstbench.spaces`: the leaderboard and the annotation pages

This package itself holds only what every room stands on: errors, safe file writing, the version.
Nothing heavy is imported here, so that ``tstbench --help`` answers at once.
"""

__version__ = "0.1.0"
