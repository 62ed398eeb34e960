"""What a hub folder holds: every number in its column, and nothing that was not meant for it."""

import json
from dataclasses import replace

import evaluate
import pyarrow.parquet as pq
import pytest
from classifier_toys import CARD as CLASSIFIER
from datasets import load_dataset
from hub_artefacts import JUDGED
from huggingface_hub import DatasetCard
from own_data import write_manners
from prepared import DIRECTION, refusal

from tstbench.datasets_scripts.catalog import DIRECTIONS, load_data
from tstbench.datasets_scripts.judgments.schema import read_judgments, write_judgments
from tstbench.datasets_scripts.load import load_test_set
from tstbench.errors import InputError, MissingFileError, TSTBenchError
from tstbench.files import write_jsonl
from tstbench.metrics.scorers.artefacts import store
from tstbench.pipelines.evaluate import evaluate as evaluate_outputs
from tstbench.pipelines.growth import keep, read_results
from tstbench.pipelines.hub.build import Artefact, build, build_all, spaces, trained_scorers
from tstbench.pipelines.hub.manifest import find_repository, write_repository
from tstbench.pipelines.outputs import Outputs
from tstbench.pipelines.report import SystemInfo
from tstbench.pipelines.results import read_direction
from tstbench.pipelines.scoring import scoring

CARD = {"README.md": b"# Card\n"}


def lines(path):
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def published(root, name):
    return root / "datasets/tstbench" / name


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """One system that says everything about itself, as results and as it is published."""
    folder = tmp_path_factory.mktemp("made")
    test_set = load_test_set(DIRECTION)
    rewrites = tuple(some[0] if i % 3 else s for i, (s, some) in enumerate(
        zip(test_set.sources, test_set.references, strict=True)
    ))  # fmt: skip
    info = SystemInfo(name="ours", family="rule", date="2026-01", origin="written by hand")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TSTBENCH_HOME", str(folder / "home"))
        how, root = scoring(["s_bleu", "r_bleu"]), folder / "results"
        evaluate_outputs([Outputs("ours", rewrites)], test_set, how, {"ours": info}, root)
        only = ["results", "outputs"]
        build_all(folder / "hub", datasets=[], results=folder / "results", only=only)
    (stored,) = read_direction(folder / "results" / DIRECTION)
    return folder / "hub", stored.report, dict(zip(test_set.ids, rewrites, strict=True))


class TestResults:
    def test_a_row_of_scores_says_what_the_report_says(self, made):
        root, report, _ = made
        rows = pq.read_table(published(root, "results") / "scores.parquet").to_pylist()
        said = ("direction", "system", "family", "date", "profile", "metric", "value", "low")
        said += ("high", "unit", "signature", "made_with", "rank_low", "seed")
        assert [{name: row[name] for name in said} for row in rows] == [
            {
                "direction": DIRECTION,
                "system": "ours",
                "family": "rule",
                "date": "2026-01",
                "profile": score.profile,
                "metric": score.metric,
                "value": score.value,
                "low": score.interval.low,
                "high": score.interval.high,
                "unit": "percent",
                "signature": score.signature,
                "made_with": score.made_with,
                "rank_low": 1,
                "seed": None,
            }
            for score in report.scores
        ]
        assert all(s.interval.low < s.value < s.interval.high for s in report.scores)

    def test_a_row_of_outputs_has_its_id_and_its_origin(self, made):
        root, _, rewrites = made
        rows = lines(published(root, "outputs") / "outputs.jsonl")
        assert {row["id"]: row["prediction"] for row in rows} == rewrites
        assert {(row["direction"], row["system"], row["origin"]) for row in rows} == {
            (DIRECTION, "ours", "written by hand")
        }


class TestJudgments:
    def test_scores_off_the_scale_are_counted_and_licensed_texts_left_out(self, tmp_path):
        licensed = {"dataset": "gyafc_em", "direction": "gyafc_em/informal-to-formal"}
        rows = [
            JUDGED,
            JUDGED.model_copy(update={"rater": "rater-2", "score": 7, "flag": "impossible"}),
            JUDGED.model_copy(update={**licensed, "note": "skipped: the soup was cold ."}),
        ]
        write_judgments(tmp_path / "judgments/ours.jsonl", rows)
        options = {"judgments": tmp_path / "judgments", "only": ["human_judgments"]}
        build_all(tmp_path / "hub", datasets=[], **options)
        folder = published(tmp_path / "hub", "human_judgments")
        told = "3 rows: style; 2 directions, 2 pairs of system and direction; 1 flagged scores."
        assert told in (folder / "README.md").read_text("utf-8")
        for config in ("default", "ours"):
            kept = load_dataset(
                str(folder), config, split="judgments", cache_dir=str(tmp_path / "cache")
            )
            assert kept["output"][:] == ["the soup was warm ."] * 2 + [None]
            assert kept["score"][:] == [1, 7, 1]
            assert kept["flag"][:] == [None, "impossible", None]
            assert kept[2]["source"] is None
            assert "soup" not in (kept[2]["note"] or "")

    def test_a_folder_without_judgments_or_with_wrong_ones_is_told(self, tmp_path):
        (tmp_path / "judgments").mkdir()
        options = {"datasets": [], "judgments": tmp_path / "judgments"}
        with pytest.raises(MissingFileError, match="no judgments in"):
            build_all(tmp_path / "hub", **options)
        write_jsonl(tmp_path / "judgments/study.jsonl", [{"score": 9}])
        with pytest.raises(InputError, match=r"study\.jsonl, line 1"):
            build_all(tmp_path / "hub", **options)

    @pytest.mark.realdata
    def test_a_study_is_not_taken_twice(self, tmp_path):
        write_judgments(tmp_path / "judgments/mir2019.jsonl", [JUDGED])
        with pytest.raises(InputError, match="the published study mir2019: leave one out"):
            build_all(
                tmp_path / "hub",
                datasets=[],
                judgments=tmp_path / "judgments",
                studies=["mir2019"],
            )


@pytest.mark.realdata
def test_published_studies_become_a_dataset(tmp_path):
    names = ["li2018", "mir2019", "pauli2025", "tstbench2025"]
    build_all(tmp_path / "hub", datasets=[], studies=names, only=["human_judgments"])
    built = tmp_path / "hub" / "datasets" / "tstbench" / "human_judgments"
    rows = load_dataset(str(built), split="judgments", cache_dir=str(tmp_path / "cache"))
    assert rows.num_rows == 9600 + 10492 + 1200 + 15000
    card = (built / "README.md").read_text()
    for said in ("CC BY-SA 4.0", "CC-BY-4.0", "none stated", "Only the public outputs of ChatGPT"):
        assert said in card
    licensed = rows.filter(lambda row: row["dataset"].startswith("gyafc"))
    assert licensed.num_rows == 5200
    assert set(licensed["output"]) == {None}


def test_cards_name_the_languages_of_their_datasets(tmp_path):
    """Norwegian's code is YAML's word for false."""
    file = write_manners(tmp_path / "manners")
    file.write_text(
        file.read_text("utf-8").replace("licence", 'language = "no"\nlicence', 1), "utf-8"
    )
    load_data(file)
    for direction in (DIRECTION, "manners/rude-to-polite"):
        test_set = load_test_set(direction)
        some = [Outputs("ours", tuple(f"{text} now" for text in test_set.sources))]
        evaluate_outputs(some, test_set, scoring(["s_bleu"]), root=tmp_path / "results")
    rows = [
        JUDGED.model_copy(update={"dataset": name, "direction": f"{name}/rude-to-polite"})
        for name in ("mini", "manners")
    ]
    write_judgments(tmp_path / "judgments/ours.jsonl", rows)
    only = ["results", "outputs", "human_judgments"]
    options = {"results": tmp_path / "results", "judgments": tmp_path / "judgments", "only": only}
    build_all(tmp_path / "hub", datasets=[], **options)
    for name in only:
        card = DatasetCard.load(published(tmp_path / "hub", name) / "README.md")
        assert card.data.language == ["en", "no"]


@pytest.mark.slow
def test_results_outputs_scorers_and_metrics_become_repositories(prepared, tmp_path):
    root, results, test_set = tmp_path / "hub", tmp_path / "results", load_test_set(DIRECTION)
    rewrites = tuple(some[1] for some in test_set.references)
    outputs = [Outputs("copy", test_set.sources), Outputs("second", rewrites)]
    evaluate_outputs(outputs, test_set, scoring(["s_bleu", "r_bleu"]), root=results)
    write_judgments(results / "human.jsonl", [JUDGED])
    built = {one.repo_id: one for one in build_all(root, datasets=["mini"], results=results)}
    for name in ("mini", "results", "outputs", "joint", "leaderboard", "classifier-mini-linear"):
        assert built[f"tstbench/{name}"].changed
    folder = root / "datasets" / "tstbench"
    cache = str(tmp_path / "cache")
    scores = load_dataset(str(folder / "results"), split="scores", cache_dir=cache)
    assert scores.num_rows == 4  # two systems, two metrics
    assert {row["system"] for row in scores} == {"copy", "second"}
    assert scores.filter(lambda row: row["system"] == "copy")["value"][0] == 100
    outputs = load_dataset(str(folder / "outputs"), split="test", cache_dir=cache)
    assert outputs.num_rows == 2 * len(load_test_set(DIRECTION))
    assert read_judgments(folder / "results" / "human.jsonl")[0].score == 1
    report = folder / "results" / DIRECTION / "copy" / "report.json"
    assert report.read_text() == (results / DIRECTION / "copy" / "report.json").read_text()

    again = build_all(root, datasets=["mini"], results=results)
    assert not any(one.changed for one in again)


def test_licensed_data_are_refused_and_their_texts_stay(made, tmp_path):
    # `hub build` takes no licence, so it advises none
    said = "^gyafc_fr is licensed: it may only be built .`tstbench build`. and used locally$"
    with pytest.raises(TSTBenchError, match=said):
        build_all(tmp_path / "hub", datasets=["gyafc_fr"])
    ours = read_results(made[0].with_name("results"), DIRECTIONS[DIRECTION], "ours")
    for name in (DIRECTION, "gyafc_fr/informal-to-formal"):
        keep(tmp_path / "results", replace(ours, direction=DIRECTIONS[name], on_disk=None))
    only = ["results", "outputs"]
    build_all(tmp_path / "hub", datasets=[], results=tmp_path / "results", only=only)
    outputs = lines(published(tmp_path / "hub", "outputs") / "outputs.jsonl")
    assert {row["direction"] for row in outputs} == {DIRECTION}
    built = published(tmp_path / "hub", "results").rglob("ours/samples.jsonl")
    assert [file.parents[1].name for file in built] == ["negative-to-positive"]


class TestWhatIsLeftOut:
    def test_data_without_a_licence_alone_or_among_others(self, tmp_path, capsys):
        file = write_manners(tmp_path / "manners")
        file.write_text(file.read_text("utf-8").replace('licence = "cc0-1.0"\n', ""), "utf-8")
        load_data(file)
        asked = ("hub", "build", tmp_path / "hub", "--datasets", "mini", "manners")
        for only in ((), ("--only", "manners"), ("--only", "mini", "manners")):
            said = refusal(capsys, *asked, *only)
            assert "manners has no licence, so it is not published" in said
        assert not (tmp_path / "hub").exists()

    @pytest.mark.parametrize("corpus", ["gyafc_fr", "not-known-here"])
    def test_scorers_of_licensed_and_of_unknown_data_are_not_even_opened(
        self, tstbench_home, corpus
    ):
        index = tstbench_home / "scorers/index/classifier" / corpus
        index.mkdir(parents=True)
        (index / "linear.json").write_text("not for others")
        assert trained_scorers() == {}

    @pytest.mark.parametrize("name", ["gyafc_em-linear", f"GYAFC-bart@{'0' * 64}"])
    def test_a_scorer_whose_settings_name_licensed_data(self, tstbench_home, capsys, name):
        card = replace(CLASSIFIER, settings={"meaning": [name]})
        store(card, lambda folder: (folder / "model.safetensors").write_bytes(b"0"))
        assert trained_scorers() == {}
        assert "it learned from gyafc" in capsys.readouterr().err

    def test_a_metric_is_the_packages_and_its_space_asks_for_it(self, tmp_path):
        build(tmp_path / "hub", spaces(), only=["bleu"])
        space = tmp_path / "hub/spaces/tstbench/bleu"
        tag = f"v{evaluate.__version__}"
        assert find_repository(tmp_path / "hub", "space", "tstbench/bleu").manifest().tags == (tag,)
        assert {path.name for path in space.iterdir() if path.name[0] != "."} == {
            "README.md", "app.py", "bleu.py", "requirements.txt",
        }  # fmt: skip
        found = evaluate.load(str(space)).compute(
            predictions=["so"], references=["so"], sources=["so"]
        )
        assert found["details"]["r_bleu"]["signature"].startswith("r_bleu|v")

    def test_two_artefacts_of_one_name_are_refused_before_anything_is_written(self, tmp_path):
        twins = [Artefact(kind, "toy", kind, lambda: CARD) for kind in ("dataset", "model")]
        with pytest.raises(InputError, match="two artefacts are named 'toy': rename one"):
            build(tmp_path / "hub", twins)
        assert not (tmp_path / "hub").exists()


class TestTheFolder:
    @pytest.mark.parametrize("tag", ["v1..2", "../v1", "v 1", "-v"])
    def test_a_tag_is_a_name(self, tmp_path, tag):
        with pytest.raises(InputError, match="is not a valid tag name"):
            write_repository(tmp_path, "model", "tstbench/toy", CARD, tags=["v1", tag])
        assert list(tmp_path.iterdir()) == []
