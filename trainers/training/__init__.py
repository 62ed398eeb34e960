"""The loop that trains every neural system: steps, checkpoints, curves.

An algorithm says what a step minimises (:class:`~.loop.Learner`); everything that could differ
between two runs of the same recipe (batches, noise) is a pure function of the seed and the step, so
a resumed run follows the same curve.
"""
