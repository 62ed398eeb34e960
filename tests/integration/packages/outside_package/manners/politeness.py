"""A metric: the share of rewrites that say please, thank you or sorry."""

from dataclasses import dataclass

from tstbench.metrics.base import Family, MetricFacts, Options


@dataclass(frozen=True, kw_only=True)
class PolitenessOptions(Options):
    words: tuple[str, ...] = ("please", "thank", "sorry")


class Politeness(Family[PolitenessOptions]):
    name = "politeness"
    title = "politeness"
    options = PolitenessOptions
    metrics = (
        MetricFacts(
            name="polite",
            title="Polite",
            unit="percent",
            higher_is_better=True,
            aspect="style",
            meaning="share with a polite word",
        ),
    )

    def fields(self, metric, inputs, options):
        return {"words": ",".join(options.words)}

    def measure(self, metric, inputs, options, context):
        import numpy as np

        from tstbench.metrics.statistics import mean_statistics

        polite = [
            any(word in text.lower() for word in options.words) for text in inputs.predictions
        ]
        return mean_statistics(np.array(polite, dtype=np.float64), scale=100)


FAMILY = Politeness()
