"""The meta-evaluation of a whole study, against the same computed output by output.

The study is uneven on purpose: systems differ in how many outputs were rated, sentences in how many
systems were, and the rows come in no order.
"""

from dataclasses import replace

import numpy as np
import pytest
from own_data import write_tones
from scipy import stats

from tstbench.datasets_scripts.catalog import load_data, parse_direction
from tstbench.datasets_scripts.judgments.schema import Judgment
from tstbench.datasets_scripts.load import load_test_set
from tstbench.metrics.base import Cohort
from tstbench.metrics.inputs import check_inputs
from tstbench.metrics.measure import measure
from tstbench.metrics.scorers.profile import PROFILES, Scorers
from tstbench.pipelines.meta.coefficients import Settings, draw
from tstbench.pipelines.meta.columns import Column, computed_columns, rated_outputs
from tstbench.pipelines.meta.differences import perm_both, perm_both_systems, williams
from tstbench.pipelines.meta.evaluate import meta_evaluate
from tstbench.pipelines.scoring import scoring

WAYS = ("mini/negative-to-positive", "mini/positive-to-negative")
WORDS = "the soup was cold and nobody came to our table for an hour or so".split()
SETTINGS = Settings(resamples=200, seed=7)


def study():
    """Five systems in two directions, with gaps, shuffled."""
    stream = np.random.RandomState(3)
    rows = []
    for way in WAYS:
        for sentence in range(20):
            source = [*WORDS[sentence % 6 :], str(sentence)]
            for system in range(5):
                if (sentence + 2 * system) % 3 == 0:
                    continue  # nobody rated it
                kept = [w for w in source if stream.rand() < 0.3 + 0.12 * system]
                copied = stream.rand() < 0.15 * (4 - system)
                for rater in range(1 + sentence % 2):
                    score = 1 + np.clip(0.8 * system + stream.randn(), 0, 4)
                    rows.append(
                        Judgment(
                            study="ours",
                            dataset="mini",
                            direction=way,
                            system=f"system-{system}",
                            sample_id=f"{sentence}",
                            source=" ".join(source),
                            output=" ".join(source if copied else kept) or "the",
                            aspect="content",
                            scale="interval 1-5",
                            rater=f"rater-{rater}",
                            score=float(score),
                        )
                    )
    return [rows[i] for i in stream.permutation(len(rows))]


JUDGMENTS = study()
OUTPUTS = rated_outputs(JUDGMENTS)
HUMAN = np.array([one.scores["content"] for one in OUTPUTS])


def of_systems(way):
    """System to the positions of its outputs, systems and outputs in the order of first mention."""
    found = {}
    for place, one in enumerate(OUTPUTS):
        if one.direction == way:
            found.setdefault(one.system, []).append(place)
    return found


def drawn_items(way):
    """How often each output of a direction is drawn in each replicate: by its place."""
    sources = list(dict.fromkeys(one.source for one in OUTPUTS if one.direction == way))
    counts = draw(len(sources), SETTINGS.resamples, SETTINGS.seed)
    return {
        place: counts[:, sources.index(one.source)]
        for place, one in enumerate(OUTPUTS)
        if one.direction == way
    }


def interval(values):
    values = np.array(values)
    return tuple(np.percentile(values[np.isfinite(values)], [2.5, 97.5]))


def random_columns(number):
    """Metrics that follow people more and more, some of them lower is better."""
    stream = np.random.RandomState(11)
    columns = []
    for k in range(number):
        values = HUMAN * (0.3 + 0.4 * k) + stream.randn(len(HUMAN))
        sign = -1 if k % 2 else 1
        columns.append(Column(name=f"m{k}", aspect="other", sentence=sign * values, sign=sign))
    return columns


def only(records, **where):
    found = [s for s in records if all(getattr(s, k) == v for k, v in where.items())]
    assert len(found) == 1, found
    return found[0]


@pytest.fixture(scope="module")
def computed():
    how = scoring(["s_bleu", "length_ratio", "copy_rate"])
    settings = Settings(resamples=SETTINGS.resamples, seed=SETTINGS.seed, differences=False)
    return meta_evaluate(JUDGMENTS, lambda outputs: computed_columns(outputs, how), settings)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("metric", "sign"), [("s_bleu", 1), ("length_ratio", 1), ("copy_rate", -1)]
)
def test_systems_are_scored_as_corpora_of_their_own_outputs(computed, way, metric, sign):
    scorers = Scorers(PROFILES["embedded"], None)
    members, times = of_systems(way), drawn_items(way)
    values, drawn, people, people_drawn = [], [], [], []
    for places in members.values():
        texts = [OUTPUTS[i].output for i in places]
        inputs = check_inputs(texts, [OUTPUTS[i].source for i in places])
        own = measure([metric], inputs, scorers)[metric].statistics
        weights = np.stack([times[i] for i in places], axis=1)
        values.append(sign * own.value)
        drawn.append([sign * float(own.aggregate(w @ own.rows)) for w in weights])
        people.append(HUMAN[places].mean())
        people_drawn.append([w @ HUMAN[places] / w.sum() for w in weights])
    score = only(
        computed.scores, level="system", metric=metric, coefficient="pearson", direction=way
    )
    assert score.value == pytest.approx(stats.pearsonr(values, people)[0], abs=1e-5)
    columns = zip(*drawn, strict=True), zip(*people_drawn, strict=True)
    found = [stats.pearsonr(a, b)[0] for a, b in zip(*columns, strict=True)]
    assert (score.low, score.high) == pytest.approx(interval(found), abs=1e-5)
    chosen = np.random.RandomState(SETTINGS.seed).randint(0, 5, size=(SETTINGS.resamples, 5))
    some = [c for c in chosen if len(set(c)) > 1]
    over = [stats.pearsonr(np.array(values)[c], np.array(people)[c])[0] for c in some]
    assert (score.low_systems, score.high_systems) == pytest.approx(interval(over), abs=1e-5)
    assert (score.outputs, score.systems) == (sum(map(len, members.values())), 5)


def test_outputs_of_a_direction_are_drawn_by_their_source():
    report = meta_evaluate(JUDGMENTS, lambda _: (random_columns(2), []), SETTINGS)
    times = drawn_items(WAYS[1])
    places = np.array(list(times))
    where = {"level": "sentence", "coefficient": "spearman", "direction": WAYS[1]}
    for column in random_columns(2):
        score = only(report.scores, metric=column.name, **where)
        metric = column.sign * column.sentence
        value = stats.spearmanr(metric[places], HUMAN[places])[0]
        assert score.value == pytest.approx(value, abs=1e-5)
        found = []
        for replicate in range(SETTINGS.resamples):
            again = np.repeat(places, [int(times[i][replicate]) for i in places])
            found.append(stats.spearmanr(metric[again], HUMAN[again])[0])
        assert (score.low, score.high) == pytest.approx(interval(found), abs=1e-5)


def test_two_metrics_are_tested_on_their_own_correlations_and_number_of_points():
    columns = random_columns(3)
    report = meta_evaluate(JUDGMENTS, lambda _: (columns, []), SETTINGS)
    way = WAYS[0]
    members = of_systems(way)
    places = np.array([i for i, one in enumerate(OUTPUTS) if one.direction == way])
    values = {c.name: (c.sign * c.sentence)[places] for c in columns}
    human = HUMAN[places]
    means = {
        name: np.array([v[np.isin(places, some)].mean() for some in members.values()])
        for name, v in values.items()
    }
    people = np.array([HUMAN[some].mean() for some in members.values()])
    names = list(members)
    codes = np.array([names.index(OUTPUTS[i].system) for i in places])
    how = {"resamples": SETTINGS.resamples, "seed": SETTINGS.seed}
    for level, table, target in (("sentence", values, human), ("system", means, people)):
        r = {name: stats.pearsonr(v, target)[0] for name, v in table.items()}
        ranked = sorted(r, key=lambda name: -r[name])
        here = [d for d in report.differences if (d.level, d.direction) == (level, way)]
        pairs = [(a, b) for n, a in enumerate(ranked) for b in ranked[n + 1 :]]
        assert [(d.first, d.second) for d in here] == pairs
        for gap in here:
            a, b = gap.first, gap.second
            between = stats.pearsonr(table[a], table[b])[0]
            assert gap.difference == pytest.approx(r[a] - r[b], abs=1e-5)
            assert gap.p_williams == pytest.approx(
                williams(r[a], r[b], between, len(target)), abs=1e-5
            )
            if level == "sentence":
                permuted = perm_both(values[a], values[b], human, **how)
            else:
                permuted = perm_both_systems(values[a], values[b], people, codes, **how)
            assert gap.p_permutation == pytest.approx(permuted, abs=1e-5)


def test_what_is_counted_is_what_was_compared():
    """A metric without scores of one system says nothing about five systems."""
    (whole,) = random_columns(1)
    own = np.array([one.system == "system-3" for one in OUTPUTS])
    column = replace(whole, sentence=np.where(own, np.nan, whole.sentence))
    report = meta_evaluate(JUDGMENTS, lambda _: ([column], []), SETTINGS)
    some = [one for one in OUTPUTS if one.direction == WAYS[0] and one.system != "system-3"]
    score = only(report.scores, level="sentence", coefficient="pearson", direction=WAYS[0])
    assert (score.outputs, score.systems) == (len(some), 4)
    assert score.items == len({one.source for one in some})
    assert not [one for one in report.scores if one.level == "system"]


def test_an_outputs_score_is_the_mean_over_its_raters():
    one = JUDGMENTS[0]
    rows = [
        one.model_copy(update={"rater": f"rater-{n}", "score": score, "aspect": aspect})
        for n, (aspect, score) in enumerate(
            [("content", 1.0), ("style", 4.0), ("content", 2.0), ("content", 5.0), ("style", 3.0)]
        )
    ]
    (output,) = rated_outputs(rows)
    assert output.scores == pytest.approx({"content": 8 / 3, "style": 3.5})


def test_outputs_of_one_source_are_one_item_whatever_their_ids():
    """A sentence that a study has twice is drawn once; one without text is known by its number."""
    rows = [
        row.model_copy(update={"sample_id": f"{row.sample_id}{more}"})
        for row in JUDGMENTS[:6]
        for more in ("", "-again")
    ]
    items = {one.item for one in rated_outputs(rows)}
    assert items == {(row.direction, row.source) for row in JUDGMENTS[:6]}
    bare = [row.model_copy(update={"source": None, "output": None}) for row in rows]
    assert {one.item for one in rated_outputs(bare)} == {
        (row.direction, row.sample_id) for row in rows
    }


def rated(direction, texts, ids=None, **changes):
    """A study of outputs of one direction: (source, output) one by one."""
    return [
        JUDGMENTS[0].model_copy(
            update={
                "dataset": direction.split("/")[0],
                "direction": direction,
                "sample_id": ids[n] if ids else str(n),
                "source": source,
                "output": output,
                **changes,
            }
        )
        for n, (source, output) in enumerate(texts)
    ]


def test_references_are_those_of_the_rated_sentences():
    test_set = load_test_set(WAYS[0])
    places = [7, 3, 30, 12]
    texts = [
        (test_set.sources[i], test_set.references[(i + 5 * n) % 40][0])
        for n, i in enumerate(places)
    ]
    rows = rated(WAYS[0], texts, [test_set.ids[i] for i in places])
    outputs = rated_outputs(rows)
    (column,), _ = computed_columns(outputs, scoring(["r_chrf"]))
    inputs = check_inputs(
        [one.output for one in outputs],
        test_set.sources[:4],
        [test_set.references[i] for i in places],
    )
    hand = measure(["r_chrf"], inputs, Scorers(PROFILES["embedded"], None))["r_chrf"]
    assert column.sentence == pytest.approx(hand.per_sentence())
    assert column.sentence[0] == 100 > column.sentence[1:].max()


def test_texts_of_another_language_are_prepared_as_it_asks(tmp_path):
    """English rules join the parts of "do n't"; German has no such word."""
    load_data(write_tones(tmp_path))
    texts = [("das ist do n't .", "das ist don't ."), ("so ist es .", "so war es ."), ("a b", "b")]
    found = {}
    for way in ("tones/rude-to-poetic", WAYS[0]):
        (column,), _ = computed_columns(rated_outputs(rated(way, texts)), scoring(["s_bleu"]))
        found[way] = column.sentence
    assert found[WAYS[0]][0] == 100
    assert found["tones/rude-to-poetic"][0] < 100
    inputs = check_inputs([b for _, b in texts], [a for a, _ in texts], language="de-AT")
    hand = measure(["s_bleu"], inputs, Scorers(PROFILES["embedded"], None))["s_bleu"]
    assert found["tones/rude-to-poetic"] == pytest.approx(hand.per_sentence())


@pytest.mark.parametrize("hidden", ["source", "output"])
def test_no_metric_is_computed_where_one_of_the_texts_was_not_published(hidden):
    some = rated(WAYS[0], [("it was cold", "it was warm")] * 4)
    some[2] = some[2].model_copy(update={hidden: None})
    columns, left = computed_columns(rated_outputs(some), scoring(["s_chrf", "length_ratio"]))
    assert not columns
    assert [(one.metric, one.direction) for one in left] == [
        ("s_chrf", WAYS[0]),
        ("length_ratio", WAYS[0]),
    ]
    assert {one.why for one in left} == {"the study published no texts for this direction"}


def test_metrics_are_tested_on_directions_and_not_within_one_model():
    """A model's settings are one system more or less: differences are of whole directions."""
    models = [row.model_copy(update={"model": row.system[:-1]}) for row in JUDGMENTS]
    report = meta_evaluate(models, lambda _: (random_columns(2), []), SETTINGS)
    assert {score.model for score in report.scores} == {None, "system-"}
    assert {gap.model for gap in report.differences} == {None}
    assert {gap.direction for gap in report.differences} == {None, *WAYS}


def test_computed_scores_stand_at_their_outputs():
    """Two directions, mixed: each output's score is that of its own texts."""
    columns, _ = computed_columns(OUTPUTS, scoring(["s_chrf"]))
    inputs = check_inputs([o.output for o in OUTPUTS], [o.source for o in OUTPUTS])
    hand = measure(["s_chrf"], inputs, Scorers(PROFILES["embedded"], None))["s_chrf"]
    assert columns[0].sentence == pytest.approx(hand.per_sentence())


def test_a_metric_that_compares_systems_is_given_all_of_them_in_order():
    whole = [f"{' '.join(WORDS[n % 6 :])} {n}" for n in range(12)]
    texts = {
        f"system-{k}": [" ".join(text.split()[k::-1] + text.split()[k + 1 :]) for text in whole]
        for k in (1, 3, 5)
    }
    by_system = [
        rated(WAYS[0], zip(whole, some, strict=True), system=system)
        for system, some in texts.items()
    ]
    rows = [row for of_one in zip(*by_system, strict=True) for row in of_one]
    outputs = rated_outputs(rows)
    how = scoring(["naturalness_unigram"], settings={"naturalness": {"folds": "3"}})
    ((column,), left) = computed_columns(outputs, how)
    assert not left
    scorers = how.scorers(parse_direction(WAYS[0]))
    for system, some in texts.items():
        inputs = check_inputs(some, whole, direction=parse_direction(WAYS[0]))
        hand = measure(["naturalness_unigram"], inputs, scorers, how.choices, Cohort.of(texts))
        own = hand["naturalness_unigram"]
        places = [i for i, one in enumerate(outputs) if one.system == system]
        assert column.sentence[places] == pytest.approx(own.per_sentence())
        statistics, where = column.corpus[WAYS[0], system]
        assert where.tolist() == places
        assert float(statistics.aggregate(statistics.rows.sum(axis=0))) == pytest.approx(own.value)
    uneven = computed_columns(outputs[1:], how)
    assert not uneven[0]
    assert "not rated on the same sentences" in uneven[1][0].why
