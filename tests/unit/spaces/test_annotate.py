"""The annotation study without a browser: sample, blindness, answers, access, export."""

import json
import stat
from hashlib import sha256
from itertools import pairwise

import pytest
from annotate_study import DIRECTION, GOOD, RATERS, SENTENCES, SYSTEMS, keys, make, write_reports

from tstbench.datasets_scripts.judgments.schema import read_judgments
from tstbench.errors import InputError, MissingFileError, UnknownNameError
from tstbench.spaces.annotate import (
    create_study,
    export,
    lexicon_mask,
    load_study,
)
from tstbench.spaces.annotate.answers import Answer, AnswerLog
from tstbench.spaces.annotate.desk import AccessError, Desk, chose_output, place
from tstbench.spaces.annotate.order import questions
from tstbench.spaces.annotate.study import TASKS
from tstbench.spaces.web import NotThereError

BACK = "mini/positive-to-negative"


@pytest.fixture
def results(tmp_path):
    return write_reports(tmp_path / "results", SYSTEMS)


@pytest.fixture
def folder(results, tmp_path):
    create_study(results, [DIRECTION], None, RATERS, tmp_path / "study", per_system=6)
    return tmp_path / "study"


@pytest.fixture
def desk(folder):
    desk = Desk(folder)
    yield desk
    desk.close()


class TestSample:
    def test_every_system_is_judged_on_the_same_sources(self, folder):
        study = load_study(folder)
        drawn = {
            system: sorted(item.sample_id for item in study.items if system in item.systems)
            for system in SYSTEMS
        }
        assert len(set(map(tuple, drawn.values()))) == 1
        assert len(drawn["Parrot"]) == len(set(drawn["Parrot"])) == 6
        outputs = {item.output for item in study.items if item.sample_id == drawn["Parrot"][0]}
        assert len(outputs) == sum(i.sample_id == drawn["Parrot"][0] for i in study.items)
        assert any(item.systems == ("Oracle9", "Twin9") for item in study.items)

    def test_the_draw_follows_the_seed(self, results, tmp_path):
        first, again = (make(results, tmp_path / name) for name in "ab")
        other = make(results, tmp_path / "c", seed=2)
        assert first.items == again.items
        assert first.model_copy(update={"name": "x"}).fingerprint != first.fingerprint
        assert {i.sample_id for i in first.items} != {i.sample_id for i in other.items}

    def test_systems_by_report_or_folder_name(self, results, tmp_path):
        study = create_study(
            results, [DIRECTION], ["parrot", "Silent"], RATERS, tmp_path / "s", per_system=2
        )
        assert study.systems == ("Parrot", "Silent")

    @pytest.mark.parametrize(
        ("changes", "error", "says"),
        [
            ({"per_system": 9}, InputError, "have 8 sentences in common"),
            ({"per_system": 0}, InputError, "0 outputs per system were requested: at least 1"),
            ({"per_system": -1}, InputError, "-1 outputs per system were requested: at least 1"),
            ({"systems": ["Parot"]}, UnknownNameError, "Did you mean 'Parrot'"),
            ({"systems": ["../../etc"]}, UnknownNameError, "unknown system"),
            ({"systems": ["Parrot", "parrot"]}, InputError, "listed twice"),
            ({"directions": ["mini/negative-to-postive"]}, UnknownNameError, "Did you mean"),
            ({"directions": ["mini/positive-to-negative"]}, MissingFileError, "no reports"),
            ({"directions": [DIRECTION, DIRECTION]}, InputError, "once"),
            ({"raters": []}, InputError, "at least one rater"),
            ({"raters": ["Ann", "Ann"]}, InputError, "listed twice"),
            ({"tasks": ["ratings"]}, UnknownNameError, "Did you mean 'rating'"),
            ({"tasks": ["content_masked"]}, InputError, "needs a mask"),
            ({"tasks": ["rating", "protocol"]}, InputError, "ask the same"),
        ],
    )
    def test_mistakes_are_explained_and_leave_nothing(
        self, results, tmp_path, changes, error, says
    ):
        settings = {"directions": [DIRECTION], "systems": None, "raters": RATERS, "per_system": 6}
        with pytest.raises(error, match=says):
            create_study(results, out=tmp_path / "s", **{**settings, **changes})
        assert not (tmp_path / "s").exists()

    def test_texts_are_cleaned_alike_and_what_is_then_the_same_is_judged_once(self, tmp_path):
        """A system is not known by its tokeniser, and a tokenised copy is a copy."""
        systems = {
            "Tokenised": lambda source, _: source,
            "Detokenised": lambda source, _: source.replace("was n't", "wasn't").replace(" .", "."),
        }
        sentences = [(f"the {thing} was n't quick .", ()) for thing in ("train", "song", "road")]
        write_reports(tmp_path / "r", systems, sentences=sentences)
        study = make(tmp_path / "r", tmp_path / "s", per_system=3, tasks=["naturalness", "rating"])
        assert [item.systems for item in study.items] == [("Detokenised", "Tokenised")] * 3
        assert all(item.output == item.source for item in study.items)
        assert {"the song wasn't quick."} < {item.output for item in study.items}
        assert {q.task for q in questions(study, "rater-1")} == {"rating"}  # copies are no pairs

    def test_a_system_with_another_source_is_refused(self, results, tmp_path):
        other = [(source.upper(), references) for source, references in SENTENCES]
        write_reports(results, {"Odd": lambda source, _: source}, sentences=other)
        with pytest.raises(InputError, match="has a different source"):
            make(results, tmp_path / "s")

    def test_a_folder_in_use_is_never_replaced(self, results, tmp_path, folder):
        with pytest.raises(InputError, match="frozen"):
            make(results, folder)
        (tmp_path / "mine").mkdir()
        (tmp_path / "mine/thesis.txt").write_text("precious")
        with pytest.raises(InputError, match="not empty"):
            make(results, tmp_path / "mine")
        assert (tmp_path / "mine/thesis.txt").read_text() == "precious"

    def test_names_and_tokens_are_in_the_private_file_only(self, folder):
        private = folder / "private.json"
        assert stat.S_IMODE(private.stat().st_mode) == 0o600
        public = (folder / "study.json").read_text()
        secrets = [*RATERS, *keys(folder).values(), json.loads(private.read_text())["salt"]]
        assert all(secret in private.read_text() for secret in secrets)
        assert not any(secret in public for secret in secrets)
        assert len(set(keys(folder).values())) == 4

    def test_masking_replaces_whole_words_of_the_lexicon(self):
        mask = lexicon_mask(["slow", "as slow as", "dull."])
        assert mask("Slow food, slowly, as slow as ever") == "⟨style⟩ food, slowly, ⟨style⟩ ever"


class TestReferences:
    """Raters do not see references unless the study says so, and its owner is told what it does."""

    SYSTEMS = {**SYSTEMS, "copy": SYSTEMS["Parrot"], "People": SYSTEMS["Oracle9"]}

    @pytest.fixture
    def results(self, tmp_path):
        families = {"People": "human"}
        return write_reports(tmp_path / "results", self.SYSTEMS, families=families)

    @staticmethod
    def roles(folder):
        desk, key = Desk(folder), keys(folder)["Ann Archer"]
        total = desk.enter(key)["total"]
        roles = {t.role for n in range(total) for t in desk.screen(key, n).texts}
        desk.close()
        return roles

    def test_they_are_off_by_default(self, results, tmp_path, capsys):
        assert make(results, tmp_path / "s").references_shown is False
        assert self.roles(tmp_path / "s") == {"source", "output"}
        assert "warning" not in capsys.readouterr().err

    def test_where_they_are_shown_the_owner_is_warned_of_what_is_not_blind(
        self, results, tmp_path, capsys
    ):
        make(results, tmp_path / "s", show_references=True)
        assert self.roles(tmp_path / "s") == {"source", "reference", "output"}
        _, shown, *told = capsys.readouterr().err.splitlines()
        assert "unless your protocol asks" in shown
        for line, system in zip(told, ("Oracle9", "People", "Twin9"), strict=True):
            assert f"{system} is not blind: 6 of its 6 outputs equal a reference" in line

    def test_spaces_and_case_do_not_hide_a_reference(self, tmp_path, capsys):
        disguise = {"Shout": lambda source, references: " " + references[0].upper()}
        make(write_reports(tmp_path / "r", disguise), tmp_path / "s", show_references=True)
        assert "Shout is not blind: 6 of its 6" in capsys.readouterr().err

    def test_bounds_are_named_and_stay_apart(self, results, tmp_path, capsys):
        study = make(results, tmp_path / "s")
        assert study.bounds == ("People", "copy")
        assert "bounds in this study: People, copy." in capsys.readouterr().err
        desk = Desk(tmp_path / "s")
        assert desk.overview(keys(tmp_path / "s")[""])["bounds"] == ["People", "copy"]
        desk.close()

    def test_a_study_from_before_the_setting_is_read_as_it_was_made(self, tmp_path):
        make(write_reports(tmp_path / "r", SYSTEMS), tmp_path / "s", show_references=True)
        file = tmp_path / "s/study.json"
        old = json.loads(file.read_text())
        del old["references_shown"], old["bounds"]
        file.write_text(json.dumps(old, indent=2))
        assert self.roles(tmp_path / "s") == {"source", "reference", "output"}
        frozen = json.dumps(old, separators=(",", ":"), ensure_ascii=False)
        assert load_study(tmp_path / "s").fingerprint == sha256(frozen.encode()).hexdigest()


class TestTheCommonStart:
    @pytest.mark.parametrize("task", ["rating", "naturalness"])
    @pytest.mark.parametrize("directions", [[DIRECTION], [DIRECTION, BACK]])
    def test_a_dozen_answers_of_each_rater_are_enough_for_agreement(
        self, results, tmp_path, directions, task
    ):
        write_reports(results, SYSTEMS, direction=BACK)
        create_study(results, directions, None, RATERS, tmp_path / "s", per_system=8, tasks=[task])
        desk, known = Desk(tmp_path / "s"), keys(tmp_path / "s")
        for name in RATERS:
            for position in range(12):
                screen = desk.screen(known[name], position)
                score = 1 + len(screen.texts[-1].text) % 2
                desk.save(
                    known[name], position, {"scores": {a.name: score for a in screen.aspects}}
                )
        rows = desk.statistics(known[""])["agreement"]
        desk.close()
        assert {row["direction"] for row in rows} >= set(directions)
        assert all(row["kappa"]["items"] >= 4 for row in rows)  # which all three have scored
        if task == "rating":
            assert {row["alpha"]["value"] for row in rows} == {1.0}

    def test_after_it_raters_meet_the_sources_in_orders_of_their_own(self, results, tmp_path):
        study = make(results, tmp_path / "s", per_system=8)
        orders = [[q.item.sample_id for q in questions(study, r)] for r in study.raters]
        assert len({tuple(order[:12]) for order in orders}) == 1
        assert len({tuple(order) for order in orders}) == 3


class TestBlindness:
    def test_each_rater_meets_everything_once_in_another_order(self, folder):
        study = load_study(folder)
        orders = [[q.item.id for q in questions(study, rater)] for rater in study.raters]
        assert all(sorted(order) == sorted(i.id for i in study.items) for order in orders)
        assert len({tuple(order) for order in orders}) == 3
        assert orders[0] == [q.item.id for q in questions(study, study.raters[0])]

    def test_outputs_of_a_source_come_together_in_no_fixed_order_of_systems(self, folder):
        study = load_study(folder)
        screens = questions(study, "rater-1")
        changes = sum(a.item.sample_id != b.item.sample_id for a, b in pairwise(screens))
        assert changes == 5  # six sources
        first = {q.item.systems for q in screens if q.number == 1}
        assert len(first) > 1
        assert all(1 <= q.number <= q.of for q in screens)

    def test_pairs_hide_the_order_and_leave_out_copies(self, results, tmp_path):
        study = make(results, tmp_path / "s", tasks=["naturalness", "rating"])
        pairs = [q for r in study.raters for q in questions(study, r) if q.task == "naturalness"]
        assert {q.output_first for q in pairs} == {True, False}
        assert not any("Parrot" in q.item.systems for q in pairs)
        assert [chose_output(place(s, f), f) for s in (0, 1) for f in (True, False)] == [0, 0, 1, 1]

    def test_no_answer_of_the_api_names_a_system_an_item_or_a_rater(self, results, tmp_path):
        masks = {DIRECTION: lexicon_mask(["slow", "dull", "quick", "bright"])}
        tasks = [task for task in TASKS if task != "rating"]  # protocol asks the same, and more
        study = make(results, tmp_path / "s", tasks=tasks, masks=masks)
        desk, known = Desk(tmp_path / "s"), keys(tmp_path / "s")
        told = json.dumps(desk.enter(known["Ann Archer"]))
        for position in range(desk.enter(known["Ann Archer"])["total"]):
            told += json.dumps(desk.screen(known["Ann Archer"], position).model_dump(mode="json"))
        hidden = [*study.systems, *RATERS, *study.raters, "item-", '"s1"', "systems"]
        assert not [name for name in hidden if name in told]
        pair = desk.screen(known["Ann Archer"], 0)
        assert (pair.layout, pair.target_style, pair.dataset) == ("pair", None, None)
        desk.close()


class TestAnswers:
    def answer(self, item="item-1", **changes):
        return Answer(
            task="rating", item=item, scores={"style": 3}, at="2026-01-01T00:00:00Z", **changes
        )

    def test_the_latest_answer_counts_and_the_earlier_one_stays(self, tmp_path):
        log = AnswerLog(tmp_path / "a/rater-1.jsonl")
        log.append(self.answer())
        log.append(self.answer(comment="changed"))
        again = AnswerLog(log.path)
        assert again.latest == log.latest == {("rating", "item-1"): self.answer(comment="changed")}
        assert len(log.path.read_text().splitlines()) == 2

    def test_an_append_cut_short_is_dropped_and_the_file_goes_on(self, tmp_path):
        log = AnswerLog(tmp_path / "rater-1.jsonl")
        log.append(self.answer())
        whole = log.path.read_bytes()
        log.path.write_bytes(whole + whole[:20])  # a crash in the middle of a write
        again = AnswerLog(log.path)
        assert list(again.latest) == [("rating", "item-1")]
        assert log.path.read_bytes() == whole + whole[:20]  # another process may be writing it
        again.append(self.answer("item-2"))
        assert list(AnswerLog(log.path).latest) == [("rating", "item-1"), ("rating", "item-2")]

    @pytest.mark.parametrize("end", ["", " ", "\r", "next"])
    def test_answers_that_no_newline_ends_are_refused_and_left_alone(self, tmp_path, end):
        """Not read as none: the next save would cut them off."""
        log = AnswerLog(tmp_path / "rater-1.jsonl")
        log.append(self.answer())
        line = log.path.read_text().rstrip("\n")
        log.path.write_text(line + (line if end == "next" else end), newline="")
        before = log.path.read_bytes()
        with pytest.raises(InputError, match=r"rater-1.jsonl, line 1: .* newline"):
            AnswerLog(log.path)
        assert log.path.read_bytes() == before

    def test_a_damaged_line_is_named(self, tmp_path):
        log = AnswerLog(tmp_path / "rater-1.jsonl")
        log.append(self.answer())
        log.path.write_text(log.path.read_text() + '{"task": 1}\n' + log.path.read_text())
        with pytest.raises(InputError, match="line 2: not an answer"):
            AnswerLog(log.path)

    def test_an_answer_is_scores_or_a_skip(self):
        for scores, skipped in (({}, False), ({"style": 3}, True)):
            with pytest.raises(ValueError, match="scores or is skipped"):
                Answer(task="rating", item="item-1", scores=scores, skipped=skipped, at="")


class TestDesk:
    def test_resumes_where_the_rater_stopped(self, folder):
        key = keys(folder)["Ann Archer"]
        desk = Desk(folder)
        assert [desk.save(key, n, GOOD)["next_open"] for n in (0, 1, 3)] == [1, 2, 4]
        desk.close()
        desk = Desk(folder)
        assert desk.enter(key) | {"guide": None, "scales": None, "drafts": None} == {
            "role": "rater",
            "study": "study",
            "started": True,
            "total": len(load_study(folder).items),
            "next_open": 2,
            "references_shown": False,
            "drafts": None,
            "guide": None,
            "scales": None,
        }
        assert desk.screen(key, 1).answer.scores == GOOD["scores"]
        assert desk.screen(key, 2).answer is None
        desk.close()

    def test_the_last_open_item_is_the_end(self, desk, folder):
        key = keys(folder)["Ann Archer"]
        total = desk.enter(key)["total"]
        followed = [desk.save(key, n, {"skipped": True})["next_open"] for n in range(total)]
        assert followed == [*range(1, total), None]
        assert desk.screen(key, 0).skipped == tuple(range(total))

    def test_nobody_sees_anothers_answers(self, desk, folder):
        known = keys(folder)
        desk.save(known["Ann Archer"], 0, GOOD | {"flagged": True, "comment": "odd"})
        total = desk.enter(known["Ben Baker"])["total"]
        views = [desk.screen(known["Ben Baker"], n) for n in range(total)]
        assert all(view.answer is None and view.done == 0 for view in views)
        for page in (desk.overview, desk.statistics, desk.export_lines):
            with pytest.raises(AccessError):
                page(known["Ben Baker"])
        with pytest.raises(AccessError):
            desk.screen(known[""], 0)  # the owner rates nothing

    @pytest.mark.parametrize("key", ["", "x", None, 5, "\ud800"])
    def test_unknown_keys_open_nothing(self, desk, key):
        for page in (desk.enter, desk.overview, lambda key: desk.save(key, 0, GOOD)):
            with pytest.raises(AccessError):
                page(key)

    @pytest.mark.parametrize(
        "submission",
        [
            {},
            None,
            [],
            "5",
            {"scores": {"style": 4}},
            {"scores": GOOD["scores"] | {"style": 6}},
            {"scores": GOOD["scores"] | {"style": 0}},
            {"scores": GOOD["scores"] | {"style": "4"}},
            {"scores": GOOD["scores"] | {"style": True}},
            {"scores": GOOD["scores"] | {"style": 4.0}},
            {"scores": GOOD["scores"] | {"derived_overall": 5}},
            {"scores": dict.fromkeys(("style", "content", "fluency"), 4)},
            GOOD | {"skipped": True},
            GOOD | {"rater": "rater-2"},
            GOOD | {"comment": "x" * 5000},
            GOOD | {"comment": "\ud800"},
        ],
    )
    def test_what_is_no_answer_is_not_kept(self, desk, folder, submission):
        key = keys(folder)["Ann Archer"]
        with pytest.raises(InputError):
            desk.save(key, 0, submission)
        assert desk.enter(key)["started"] is False
        assert not (folder / "answers").exists()

    @pytest.mark.parametrize("position", [-1, 10_000, "0", True, None, 0.0])
    def test_positions_outside_the_study(self, desk, folder, position):
        with pytest.raises(NotThereError):
            desk.screen(keys(folder)["Ann Archer"], position)

    def test_one_server_a_study(self, desk, folder):
        with pytest.raises(InputError, match="another process"):
            Desk(folder)

    def test_a_study_that_was_changed_after_the_answers_is_refused(self, desk, folder):
        desk.save(keys(folder)["Ann Archer"], 0, GOOD)
        path = next((folder / "answers").iterdir())
        path.write_text(path.read_text().replace('"item":"item-', '"item":"item-9'))
        with pytest.raises(InputError, match="not part of this study"):
            export(folder, folder / "out.jsonl")


def desk_rater(desk, name):
    """The pseudonym of a rater."""
    owner = keys(desk.folder)[""]
    return next(r["rater"] for r in desk.overview(owner)["progress"] if r["name"] == name)


def read_judgments_of(desk, owner, folder):
    (folder / "export.jsonl").write_text(desk.export_lines(owner), "utf-8")
    return read_judgments(folder / "export.jsonl")


class TestExport:
    def rate_all(self, desk, key, scores):
        for position in range(desk.enter(key)["total"]):
            desk.save(key, position, {"scores": scores})

    def test_the_export_is_complete_and_reads_back(self, desk, folder, tmp_path):
        known = keys(folder)
        self.rate_all(desk, known["Ann Archer"], GOOD["scores"] | {"overall": 2})
        desk.save(known["Ben Baker"], 0, {"skipped": True, "comment": "two languages"})
        desk.save(known["Cleo Carr"], 0, GOOD | {"flagged": True, "comment": "odd"})
        rows = export(folder, tmp_path / "j.jsonl")
        assert read_judgments(tmp_path / "j.jsonl") == rows
        assert desk.export_lines(known[""]) == (tmp_path / "j.jsonl").read_text()

        names = {row["name"]: row["rater"] for row in desk.overview(known[""])["progress"]}
        mine = [row for row in rows if row.rater == names["Ann Archer"]]
        assert len(mine) == 5 * 6 * 4  # systems, sources, aspects: what Ann said, and no other
        assert {row.score for row in mine if row.aspect == "overall"} == {2}
        skipped = [row for row in rows if row.score is None]
        assert {row.note for row in skipped} == {"skipped: two languages"}
        assert {row.aspect for row in skipped} == GOOD["scores"].keys()
        assert "flagged: odd" in {row.note for row in rows}

        text = (tmp_path / "j.jsonl").read_text()
        secrets = [
            *RATERS,
            *known.values(),
            json.loads((folder / "private.json").read_text())["salt"],
        ]
        assert not any(secret in text for secret in secrets)

    def test_the_owner_sees_progress_agreement_and_means(self, desk, folder):
        known = keys(folder)
        for name, style in zip(RATERS, (2, 2, 3), strict=True):
            self.rate_all(desk, known[name], GOOD["scores"] | {"style": style})
        progress = desk.overview(known[""])["progress"]
        assert sorted(row["name"] for row in progress) == RATERS
        assert all(row["done"] == row["total"] for row in progress)
        statistics = desk.statistics(known[""])
        by_aspect = {row["aspect"]: row for row in statistics["agreement"]}
        outputs = len(load_study(folder).items)
        # One decision shared by two systems is one item: six sources, two systems alike on each.
        assert by_aspect["style"]["kappa"]["items"] == outputs
        # Every item 2, 2, 3: P = 1/3, Pe = 4/9 + 1/9, kappa = (1/3 - 5/9) / (1 - 5/9) = -1/2.
        assert by_aspect["style"]["kappa"]["value"] == pytest.approx(-0.5)
        assert by_aspect["content"]["kappa"]["value"] is None  # all scores the same
        means = {(row["system"], row["aspect"]): row["mean"] for row in statistics["means"]}
        assert means["Twin9", "style"] == pytest.approx(7 / 3)
        assert means["Parrot", "overall"] == 4
        json.dumps(statistics, allow_nan=False)

    def test_kappa_is_of_those_who_have_scored_any(self, desk, folder):
        """Two agree wholly and the third has not begun: 1, of two raters, which the page says."""
        known = keys(folder)
        for name in RATERS[:2]:
            for position in range(8):
                style = 1 + len(desk.screen(known[name], position).texts[-1].text) % 5
                desk.save(known[name], position, {"scores": GOOD["scores"] | {"style": style}})
        statistics = desk.statistics(known[""])
        (style,) = (r for r in statistics["agreement"] if r["aspect"] == "style")
        assert (style["kappa"]["value"], len(style["raters"])) == (pytest.approx(1), 2)
        desk.save(known[RATERS[2]], 0, {"scores": GOOD["scores"]})
        (style,) = (r for r in desk.statistics(known[""])["agreement"] if r["aspect"] == "style")
        assert (style["kappa"]["items"], len(style["raters"])) == (1, 3)
        assert statistics["fewest"] == 20
        assert style["alpha"]["interval"] is None

    def test_a_study_that_does_not_ask_for_overall_derives_it_from_each_raters_three(
        self, results, tmp_path
    ):
        make(results, tmp_path / "s", tasks=["rating"])
        desk, known = Desk(tmp_path / "s"), keys(tmp_path / "s")
        for name, style in zip(RATERS, (1, 1, 2), strict=True):
            self.rate_all(desk, known[name], {"style": style, "content": 5, "fluency": 5})
        rows = read_judgments_of(desk, known[""], tmp_path)
        means = {(r["system"], r["aspect"]): r["mean"] for r in desk.statistics(known[""])["means"]}
        desk.close()
        assert {row.aspect for row in rows} == {"style", "content", "fluency", "derived_overall"}
        assert means["Parrot", "derived_overall"] == pytest.approx((11 + 11 + 12) / 9 * 0.6)
        assert means["Oracle9", "derived_overall"] == pytest.approx((11 + 11 + 12) / 9)

    def test_mirs_tasks_show_one_text_or_two_and_no_style(self, results, tmp_path):
        study = make(results, tmp_path / "s", tasks=["style_difference", "naturalness_absolute"])
        desk, known = Desk(tmp_path / "s"), keys(tmp_path / "s")
        for name in RATERS:
            for position, question in enumerate(questions(study, desk_rater(desk, name))):
                screen = desk.screen(known[name], position)
                shown, item = [text.text for text in screen.texts], question.item
                (aspect,) = screen.aspects
                alone = aspect.name == "naturalness"
                assert shown == ([item.output] if alone else [item.source, item.output])
                assert (screen.source_style, screen.dataset, screen.overall_factor) == (None,) * 3
                desk.save(
                    known[name], position, {"scores": {aspect.name: 1 + len(item.output) % 5}}
                )
        rows = read_judgments_of(desk, known[""], tmp_path)
        agreed = desk.statistics(known[""])["agreement"]
        desk.close()
        assert {(row.aspect, row.scale) for row in rows} == {
            ("style_difference", "ordinal 1-5"),
            ("naturalness", "ordinal 1-5"),
        }
        assert all(row.score == 1 + len(row.output) % 5 for row in rows)
        assert {round(row["kappa"]["value"], 9) for row in agreed} == {1}

    def test_naturalness_is_exported_as_whether_the_output_was_chosen(self, results, tmp_path):
        make(results, tmp_path / "s", tasks=["naturalness"])
        desk, key = Desk(tmp_path / "s"), keys(tmp_path / "s")["Ann Archer"]
        sources = {item.source for item in load_study(tmp_path / "s").items}
        for position in range(desk.enter(key)["total"]):
            shown = desk.screen(key, position).texts
            output = next(i for i, text in enumerate(shown, start=1) if text.text not in sources)
            desk.save(key, position, {"scores": {"naturalness_relative": output}})
            answer = desk.screen(key, position).answer
            assert answer.scores == {"naturalness_relative": output}
        desk.close()
        rows = export(tmp_path / "s", tmp_path / "j.jsonl")
        assert {row.score for row in rows} == {1.0}
        assert {row.scale for row in rows} == {"nominal 0-1"}
        assert "Parrot" not in {row.system for row in rows}

    def test_licensed_texts_stay_at_home(self, tmp_path):
        direction = "gyafc_em/informal-to-formal"
        results = write_reports(tmp_path / "results", SYSTEMS, direction=direction)
        create_study(results, [direction], None, RATERS, tmp_path / "s", per_system=2)
        desk = Desk(tmp_path / "s")
        ann = keys(tmp_path / "s")["Ann Archer"]
        self.rate_all(desk, ann, GOOD["scores"])
        desk.save(ann, 0, GOOD | {"flagged": True, "comment": SENTENCES[0][0]})  # quotes it
        desk.close()
        rows = export(tmp_path / "s", tmp_path / "j.jsonl")
        assert "overall" in {row.aspect for row in rows}
        assert {(row.source, row.output) for row in rows} == {(None, None)}
        assert {row.note for row in rows} == {None, "flagged"}
        assert not any(source in (tmp_path / "j.jsonl").read_text() for source, _ in SENTENCES)


def test_without_a_number_a_small_test_set_is_drawn_whole(results, tmp_path):
    study = create_study(results, [DIRECTION], None, RATERS, tmp_path / "whole")
    assert study.per_system == len({item.sample_id for item in study.items})
    assert study.per_system < 50
