"""The annotation study without a browser: sample, blindness, answers, access, export."""

import json
import random
import shutil
import sqlite3
import stat
from itertools import pairwise

import pytest
from annotate_study import DIRECTION, GOOD, RATERS, SENTENCES, SYSTEMS, keys, make, write_reports
from disks import short_files

from tstbench.datasets_scripts.judgments.schema import read_judgments
from tstbench.errors import InputError, MissingFileError, UnknownNameError
from tstbench.spaces.annotate import create_study, export, lexicon_mask, links, load_study
from tstbench.spaces.annotate.ratings import Answer, Ratings
from tstbench.spaces.annotate.service import AccessError, Service, chose_output, place, questions
from tstbench.spaces.annotate.study import TASKS
from tstbench.spaces.web import NotThereError

BACK = "mini/positive-to-negative"
REVERSED = [(references[0], (source,)) for source, references in SENTENCES]


@pytest.fixture
def results(tmp_path):
    return write_reports(tmp_path / "results", SYSTEMS)


@pytest.fixture
def both(results):
    return write_reports(results, SYSTEMS, BACK, REVERSED)


@pytest.fixture
def folder(results, tmp_path):
    create_study(results, [DIRECTION], None, RATERS, tmp_path / "study", per_system=6)
    return tmp_path / "study"


@pytest.fixture
def service(folder):
    return Service(folder)


def opened(results, folder, **changes):
    """A new study, as it is served, and the keys of its links."""
    make(results, folder, **changes)
    return Service(folder), keys(folder)


def rate_all(service, key, scores=None, **changes):
    """Give every item of a rater the same scores."""
    for position in range(service.enter(key)["total"]):
        service.save(key, position, {"scores": {**(scores or GOOD["scores"]), **changes}})


def screens_of(service, key):
    return [service.screen(key, position) for position in range(service.enter(key)["total"])]


def style_agreement(service, owner):
    (rows,) = service.overview(owner)["agreement"].values()
    return next(row for row in rows if row.aspect == "style")


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

    def test_it_is_of_sorted_sentences_so_that_it_is_the_same_in_every_process(
        self, results, tmp_path
    ):
        study = make(results, tmp_path / "s", per_system=3, seed=5)
        every = [f"s-{number}" for number in range(len(SENTENCES))]
        drawn = random.Random(f"5|sample|{DIRECTION}").sample(every, 3)
        assert list(dict.fromkeys(item.sample_id for item in study.items)) == drawn

    def test_it_does_not_depend_on_the_order_in_which_things_are_named(self, both, tmp_path):
        def items(out, directions, systems):
            return create_study(both, directions, systems, ["ann"], out, per_system=3).items

        one = items(tmp_path / "a", [DIRECTION, BACK], ["Silent", "Parrot"])
        by_folder = ["parrot", "Silent"]
        assert items(tmp_path / "b", [BACK, DIRECTION], by_folder) == one
        assert {system for item in one for system in item.systems} == {"Parrot", "Silent"}

    def test_without_a_number_a_small_test_set_is_drawn_whole(self, results, tmp_path):
        study = create_study(results, [DIRECTION], None, RATERS, tmp_path / "whole")
        assert study.per_system == len({i.sample_id for i in study.items}) == len(SENTENCES)

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

    def test_two_reports_of_one_system_and_one_of_another_source_are_refused(
        self, results, tmp_path
    ):
        shutil.copytree(results / DIRECTION / "parrot", results / DIRECTION / "parrot-again")
        with pytest.raises(InputError, match="two reports of 'Parrot'"):
            make(results, tmp_path / "s")
        shutil.rmtree(results / DIRECTION / "parrot-again")
        other = [(source.upper(), references) for source, references in SENTENCES]
        write_reports(results, {"Odd": lambda source, _: source}, sentences=other)
        with pytest.raises(InputError, match="has a different source"):
            make(results, tmp_path / "s")
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

    def test_masking_replaces_whole_words_of_the_lexicon(self):
        mask = lexicon_mask(["slow", "as slow as", "dull."])
        assert mask("Slow food, slowly, as slow as ever") == "⟨style⟩ food, slowly, ⟨style⟩ ever"


class TestFolder:
    def test_one_in_use_is_never_replaced(self, results, tmp_path, folder):
        with pytest.raises(InputError, match="frozen"):
            make(results, folder)
        (tmp_path / "mine").mkdir()
        (tmp_path / "mine/thesis.txt").write_text("precious")
        with pytest.raises(InputError, match="not empty"):
            make(results, tmp_path / "mine")
        assert (tmp_path / "mine/thesis.txt").read_text() == "precious"

    def test_names_and_tokens_are_in_the_private_file_only(self, folder):
        private = folder / "private.json"
        public = (folder / "study.json").read_text()
        secrets = [*RATERS, *keys(folder).values(), json.loads(private.read_text())["salt"]]
        assert all(secret in private.read_text() for secret in secrets)
        assert not any(secret in public for secret in secrets)
        assert len(set(keys(folder).values())) == 4
        for file in (private, folder / "answers.sqlite"):
            assert stat.S_IMODE(file.stat().st_mode) == 0o600

    def test_a_link_has_one_slash(self, folder):
        known = keys(folder)
        for base in ("http://127.0.0.1:7861", "http://127.0.0.1:7861/"):
            found = links(folder, base)
            assert found.owner == f"http://127.0.0.1:7861/?key={known['']}"
            assert found.raters["Ben Baker"] == f"http://127.0.0.1:7861/?key={known['Ben Baker']}"

    def test_raters_without_their_secret_are_not_served(self, folder):
        private = json.loads((folder / "private.json").read_text())
        del private["raters"]["rater-2"]
        (folder / "private.json").write_text(json.dumps(private))
        with pytest.raises(InputError, match="name different raters"):
            Service(folder)

    @pytest.mark.parametrize(
        ("change", "said"),
        [
            (lambda items: items[1].update(id=items[0]["id"]), "two items have the same id"),
            (lambda items: items[1].update(masked=None), "needs masked texts in every item"),
        ],
    )
    def test_items_that_raters_could_not_be_asked_about_are_told(
        self, results, tmp_path, change, said
    ):
        masks = {DIRECTION: lambda text: text.replace("slow", "...")}
        make(results, tmp_path / "study", tasks=["content_masked"], masks=masks)
        study = json.loads((tmp_path / "study/study.json").read_text())
        change(study["items"])
        (tmp_path / "study/study.json").write_text(json.dumps(study))
        with pytest.raises(InputError, match=f"study.json is damaged: .*{said}"):
            Service(tmp_path / "study")

    def test_a_damaged_file_of_secrets_is_told_of_without_them(self, folder):
        private = json.loads((folder / "private.json").read_text())
        secret = private["owner_token"] = "s" * 31
        (folder / "private.json").write_text(json.dumps(private))
        with pytest.raises(InputError, match=r"private\.json is damaged: owner_token: ") as told:
            Service(folder)
        assert secret not in str(told.value)

    def test_what_a_browser_keeps_is_of_one_rater_and_one_study(self, service, results, tmp_path):
        """Two raters at one computer, and a study made again, share no drafts."""
        make(results, tmp_path / "again", per_system=3)
        shutil.copy(service.folder / "private.json", tmp_path / "again/private.json")
        other, known = Service(tmp_path / "again"), keys(service.folder)
        ann, ben = known["Ann Archer"], known["Ben Baker"]
        names = [one.enter(key)["drafts"] for one in (service, other) for key in (ann, ben)]
        assert len(set(names)) == 4
        assert names[0] == service.enter(ann)["drafts"]


class TestReferences:
    """Raters do not see references unless the study says so, and its owner is told what it does."""

    @pytest.fixture
    def results(self, tmp_path):
        systems = {**SYSTEMS, "copy": SYSTEMS["Parrot"], "People": SYSTEMS["Oracle9"]}
        return write_reports(tmp_path / "results", systems, families={"People": "human"})

    @pytest.mark.parametrize("shown", [False, True])
    def test_where_they_are_shown_the_owner_is_warned_of_what_is_not_blind(
        self, results, tmp_path, capsys, shown
    ):
        changes = {"show_references": True} if shown else {}
        service, known = opened(results, tmp_path / "s", **changes)
        screens = screens_of(service, known["Ann Archer"])
        roles = {text["role"] for screen in screens for text in screen["texts"]}
        assert roles == {"source", "output"} | ({"reference"} if shown else set())
        bounds, *told = capsys.readouterr().err.splitlines()
        assert "bounds in this study: People, copy." in bounds
        assert service.study.bounds == ("People", "copy")
        named = ("unless your protocol asks", "Oracle9", "People", "Twin9") if shown else ()
        assert all(name in line for name, line in zip(named, told, strict=True))
        assert all("not blind: 6 of its 6 outputs equal a reference" in line for line in told[1:])

    def test_spaces_and_case_do_not_hide_a_reference(self, tmp_path, capsys):
        disguise = {"Shout": lambda source, references: " " + references[0].upper()}
        tasks = ["naturalness", "rating"]  # only the latter shows them
        results = write_reports(tmp_path / "r", disguise)
        make(results, tmp_path / "s", tasks=tasks, show_references=True)
        assert "Shout is not blind: 6 of its 6" in capsys.readouterr().err


class TestOrder:
    @pytest.mark.parametrize("task", ["rating", "naturalness"])
    @pytest.mark.parametrize("directions", [[DIRECTION], [DIRECTION, BACK]])
    def test_a_dozen_answers_of_each_rater_are_enough_for_agreement(
        self, both, tmp_path, directions, task
    ):
        create_study(both, directions, None, RATERS, tmp_path / "s", per_system=8, tasks=[task])
        service, known = Service(tmp_path / "s"), keys(tmp_path / "s")
        for name in RATERS:
            for position in range(12):
                screen = service.screen(known[name], position)
                score = 1 + len(screen["texts"][-1]["text"]) % 2
                scores = {aspect["name"]: score for aspect in screen["aspects"]}
                service.save(known[name], position, {"scores": scores})
        agreed = service.overview(known[""])["agreement"]
        rows = [row for rows in agreed.values() for row in rows]
        assert agreed.keys() == {*directions, *([None] if len(directions) > 1 else [])}
        assert all(row.kappa.items >= 4 for row in rows)  # which all three have scored
        if task == "rating":
            assert {row.alpha.value for row in rows} == {1.0}

    def test_each_rater_meets_everything_once_in_an_order_of_their_own(self, results, tmp_path):
        study = make(results, tmp_path / "s", per_system=8)
        orders = [[q.item for q in questions(study, rater)] for rater in study.raters]
        for order in orders:
            assert sorted(i.id for i in order) == sorted(i.id for i in study.items)
        assert len({tuple(i.id for i in order) for order in orders}) == 3
        sources = [tuple(item.sample_id for item in order) for order in orders]
        assert len({order[:12] for order in sources}) == 1  # the common start
        assert len(set(sources)) == 3
        assert orders[0] == [q.item for q in questions(study, study.raters[0])]

    def test_raters_do_not_all_go_on_with_the_same_direction(self, both, tmp_path):
        directions = [DIRECTION, BACK]
        study = create_study(both, directions, None, RATERS, tmp_path / "s", per_system=8, seed=1)
        screens = [questions(study, rater)[2 * 8 :] for rater in study.raters]  # after the start
        of = [[q.item.direction for q in some] for some in screens]
        assert {directions[0] for directions in of} == {DIRECTION, BACK}
        assert all(sum(a != b for a, b in pairwise(some)) == 1 for some in of)

    def test_outputs_of_a_source_come_together_in_no_fixed_order_of_systems(self, folder):
        screens = questions(load_study(folder), "rater-1")
        changes = sum(a.item.sample_id != b.item.sample_id for a, b in pairwise(screens))
        assert changes == 5  # six sources
        assert len({q.item.systems for q in screens if q.number == 1}) > 1
        assert all(1 <= q.number <= q.of for q in screens)

    def test_pairs_hide_the_order_and_leave_out_copies(self, results, tmp_path):
        study = make(results, tmp_path / "s", tasks=["naturalness", "rating"])
        pairs = [q for r in study.raters for q in questions(study, r) if q.task == "naturalness"]
        assert {q.output_first for q in pairs} == {True, False}
        assert not any("Parrot" in q.item.systems for q in pairs)
        assert [chose_output(place(s, f), f) for s in (0, 1) for f in (True, False)] == [0, 0, 1, 1]


class TestRatings:
    ANSWER = Answer(
        task="rating", item="item-1", scores={}, skipped=True, at="2026-01-01T00:00:00Z"
    )

    @pytest.fixture
    def ratings(self, results, tmp_path):
        study = make(results, tmp_path / "s", tasks=["rating"])
        return Ratings(tmp_path / "s", study)

    def test_the_latest_answer_counts_and_the_earlier_one_stays(self, ratings):
        changed = self.ANSWER.model_copy(update={"comment": "changed"})
        other = self.ANSWER.model_copy(update={"item": "item-2"})
        for answer in (self.ANSWER, other, changed):
            ratings.add("rater-1", answer)
        again = Ratings(ratings.path.parent, ratings._study)  # another process, say
        latest = {("rating", "item-1"): changed, ("rating", "item-2"): other}
        assert again.all() == {"rater-1": latest, "rater-2": {}, "rater-3": {}}
        with sqlite3.connect(ratings.path) as database:
            assert database.execute("SELECT count(*) FROM answers").fetchone() == (3,)

    def test_what_does_not_fit_on_the_disk_is_not_kept_at_all(self, ratings):
        def add(number):
            more = {"item": f"item-{number}", "comment": "x" * 1900}
            ratings.add("rater-1", self.ANSWER.model_copy(update=more))

        add(1)
        size = ratings.path.stat().st_size + 10
        with short_files(size), pytest.raises(OSError, match=r"answers\.sqlite: "):
            add(2) or add(3) or add(4)  # the file has room for one or two
        kept = [item for _, item in ratings.of("rater-1")]
        assert kept in (["item-1"], ["item-1", "item-2"], ["item-1", "item-2", "item-3"])
        add(5)
        assert [item for _, item in ratings.of("rater-1")] == [*kept, "item-5"]

    @pytest.mark.parametrize(
        ("change", "said"),
        [
            ({"item": "item-99"}, "rating of item-99, which is not part of this study"),
            ({"task": "naturalness"}, "naturalness of item-1, which is not part of this study"),
            ({"scores": {"style": 3}, "skipped": False}, "which is not part of this study"),
            ({"skipped": False}, "scores or is skipped"),
            ({"scores": {"style": 3}}, "scores or is skipped"),
        ],
    )
    def test_an_answer_that_the_study_does_not_ask_for_is_refused(self, ratings, change, said):
        """The study was changed after it, or the file by hand."""
        ratings.add("rater-1", self.ANSWER)
        ratings.add("rater-2", self.ANSWER.model_copy(update=change))
        for read in (lambda folder: export(folder, folder / "out.jsonl"), Service):
            with pytest.raises(InputError, match=f"answers.sqlite, answer 2.*{said}"):
                read(ratings.path.parent)

    def test_a_file_that_is_gone_or_no_database_is_told(self, ratings):
        ratings.path.write_text("no database, but long enough to be read as one" * 100)
        with pytest.raises(InputError, match=r"answers\.sqlite is damaged"):
            Service(ratings.path.parent)
        ratings.path.write_bytes(b"")  # a database without tables
        with pytest.raises(InputError, match=r"no such table: answers\. Put it back"):
            Service(ratings.path.parent)
        ratings.path.unlink()
        with pytest.raises(MissingFileError, match=r"answers\.sqlite is missing"):
            Service(ratings.path.parent)

    def test_a_study_whose_answers_could_not_be_kept_is_not_opened(self, ratings):
        ratings.add("rater-1", self.ANSWER)
        whole = ratings.path.read_bytes()
        with short_files(10), pytest.raises(InputError, match="answers would be lost: make it wri"):
            Service(ratings.path.parent)
        assert len(export(ratings.path.parent, ratings.path.with_name("out.jsonl"))) > 0
        Service(ratings.path.parent)
        assert ratings.path.read_bytes() == whole


class TestService:
    def test_no_answer_names_a_system_an_item_or_a_rater(self, results, tmp_path):
        masks = {DIRECTION: lexicon_mask(["slow", "dull", "quick", "bright"])}
        tasks = [task for task in TASKS if task != "rating"]  # protocol asks the same, and more
        service, known = opened(results, tmp_path / "s", tasks=tasks, masks=masks)
        ann = known["Ann Archer"]
        told = json.dumps([service.enter(ann), *screens_of(service, ann)])
        hidden = [*service.study.systems, *RATERS, *service.study.raters]
        assert not [name for name in (*hidden, "item-", '"s-1"', "systems") if name in told]
        pair = service.screen(ann, 0)
        assert (pair["layout"], pair["target_style"], pair["dataset"]) == ("pair", None, None)
        assert (pair["number"], pair["of"]) == (1, 1)

    def test_resumes_where_the_rater_stopped(self, service, folder):
        key = keys(folder)["Ann Archer"]
        assert [service.save(key, n, GOOD)["next_open"] for n in (0, 1, 3)] == [1, 2, 4]
        service = Service(folder)
        entered = service.enter(key)
        assert {name: entered[name] for name in entered.keys() - {"guide", "scales", "drafts"}} == {
            "study": "study",
            "started": True,
            "total": len(load_study(folder).items),
            "next_open": 2,
            "references_shown": False,
        }
        assert service.screen(key, 1)["answer"]["scores"] == GOOD["scores"]
        assert service.screen(key, 2)["answer"] is None

    def test_the_last_open_item_is_the_end(self, service, folder):
        key = keys(folder)["Ann Archer"]
        total = service.enter(key)["total"]
        order = [*range(total - 2), total - 1, total - 2]
        followed = [service.save(key, n, {"skipped": True})["next_open"] for n in order[:-1]]
        assert followed == [*range(1, total - 1), total - 2]
        assert service.save(key, total - 2, {"skipped": True})["next_open"] is None
        assert service.screen(key, 0)["skipped"] == [*range(total)]

    def test_nobody_sees_anothers_answers(self, service, folder):
        known = keys(folder)
        service.save(known["Ann Archer"], 0, GOOD | {"flagged": True, "comment": "odd"})
        for screen in screens_of(service, known["Ben Baker"]):
            assert (screen["answer"], screen["done"]) == (None, 0)
        for page in (service.overview, service.judgments):
            with pytest.raises(AccessError):
                page(known["Ben Baker"])
        with pytest.raises(AccessError):
            service.screen(known[""], 0)  # the owner rates nothing

    @pytest.mark.parametrize("key", ["", "x", None, 5, "\ud800"])
    def test_unknown_keys_open_nothing(self, service, key):
        for page in (service.enter, service.overview, lambda key: service.save(key, 0, GOOD)):
            with pytest.raises(AccessError):
                page(key)

    @pytest.mark.parametrize(
        "choices",
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
    def test_what_is_no_answer_is_not_kept(self, service, folder, choices):
        key = keys(folder)["Ann Archer"]
        with pytest.raises(InputError):
            service.save(key, 0, choices)
        assert service.enter(key)["started"] is False

    @pytest.mark.parametrize("position", [-1, 10_000, "0", True, None, 0.0])
    def test_positions_outside_the_study(self, service, folder, position):
        with pytest.raises(NotThereError):
            service.screen(keys(folder)["Ann Archer"], position)

    def test_only_a_copy_costs_part_of_a_derived_overall(self, results, tmp_path):
        service, known = opened(results, tmp_path / "three", per_system=2, tasks=["rating"])
        factors = {}
        for screen in screens_of(service, known["Ann Archer"]):
            texts = {text["role"]: text["text"] for text in screen["texts"]}
            is_copy = texts["source"] == texts["output"]
            factors.setdefault(is_copy, set()).add(screen["overall_factor"])
        assert factors == {True: {0.6}, False: {1.0}}

    def test_where_overall_is_asked_none_is_derived(self, service, folder):
        screen = service.screen(keys(folder)["Ann Archer"], 0)
        assert [aspect["name"] for aspect in screen["aspects"]] == list(GOOD["scores"])
        assert screen["overall_factor"] is None


class TestOwner:
    def test_sees_progress_agreement_and_means(self, service, folder):
        known = keys(folder)
        for name, style in zip(RATERS, (2, 2, 3), strict=True):
            rate_all(service, known[name], style=style)
        shown = service.overview(known[""])
        assert sorted(row["name"] for row in shown["progress"]) == RATERS
        assert all(row["done"] == row["total"] for row in shown["progress"])
        by_aspect = {row.aspect: row for row in shown["agreement"][DIRECTION]}
        # One decision shared by two systems is one item: six sources, two systems alike on each.
        assert by_aspect["style"].kappa.items == len(load_study(folder).items)
        # Every item 2, 2, 3: P = 1/3, Pe = 4/9 + 1/9, kappa = (1/3 - 5/9) / (1 - 5/9) = -1/2.
        assert by_aspect["style"].kappa.value == pytest.approx(-0.5)
        assert by_aspect["content"].kappa.value is None  # all scores the same
        assert list(shown["means"][DIRECTION]) == sorted(SYSTEMS)
        assert shown["means"][DIRECTION]["Twin9"]["style"].mean == pytest.approx(7 / 3)
        assert shown["means"][DIRECTION]["Parrot"]["overall"].mean == 4

    def test_numbers_follow_the_next_answer(self, service, folder):
        known = keys(folder)
        for style in (2, 5):
            rate_all(service, known["Ann Archer"], style=style)
            means = service.overview(known[""])["means"][DIRECTION]
            assert means["Silent"]["style"].mean == style

    def test_reads_what_raters_skipped_and_what_they_flagged(self, service, folder):
        known = keys(folder)
        service.save(known["Ann Archer"], 0, {"skipped": True, "comment": "two languages"})
        service.save(known["Ben Baker"], 1, GOOD | {"flagged": True, "comment": "odd"})
        service.save(known["Ben Baker"], 2, GOOD | {"comment": "fine"})
        remarks = [remark["answer"] for remark in service.overview(known[""])["remarks"]]
        told = {(answer.skipped, answer.flagged, answer.comment) for answer in remarks}
        assert told == {(True, False, "two languages"), (False, True, "odd")}

    def test_kappa_is_of_those_who_have_scored_any(self, service, folder):
        """Two agree wholly and the third has not begun: 1, of two raters, which the page says."""
        known = keys(folder)
        for name in RATERS[:2]:
            for position in range(8):
                output = service.screen(known[name], position)["texts"][-1]["text"]
                scores = GOOD["scores"] | {"style": 1 + len(output) % 5}
                service.save(known[name], position, {"scores": scores})
        style = style_agreement(service, known[""])
        assert (style.kappa.value, len(style.raters)) == (pytest.approx(1), 2)
        service.save(known[RATERS[2]], 0, GOOD)
        style = style_agreement(service, known[""])
        assert (style.kappa.items, len(style.raters)) == (1, 3)
        assert style.alpha.interval is None
        assert service.overview(known[""])["fewest"] == 20


class TestExport:
    def test_is_complete_and_reads_back(self, service, folder, tmp_path):
        known = keys(folder)
        rate_all(service, known["Ann Archer"], overall=2)
        service.save(known["Ben Baker"], 0, {"skipped": True, "comment": "two languages"})
        service.save(known["Cleo Carr"], 0, GOOD | {"flagged": True, "comment": "odd"})
        rows = export(folder, tmp_path / "j.jsonl")
        assert read_judgments(tmp_path / "j.jsonl") == rows == service.judgments(known[""])

        names = {row["name"]: row["rater"] for row in service.overview(known[""])["progress"]}
        mine = [row for row in rows if row.rater == names["Ann Archer"]]
        assert len(mine) == 5 * 6 * 4  # systems, sources, aspects: what Ann said, and no other
        assert {row.score for row in mine if row.aspect == "overall"} == {2}
        skipped = [row for row in rows if row.score is None]
        assert {row.note for row in skipped} == {"skipped: two languages"}
        assert {row.aspect for row in skipped} == GOOD["scores"].keys()
        assert "flagged: odd" in {row.note for row in rows}

        text = (tmp_path / "j.jsonl").read_text()
        salt = json.loads((folder / "private.json").read_text())["salt"]
        assert not any(secret in text for secret in (*RATERS, *known.values(), salt))

    def test_a_study_that_does_not_ask_for_overall_derives_it_from_each_raters_three(
        self, results, tmp_path
    ):
        service, known = opened(results, tmp_path / "s", tasks=["rating"])
        for name, style in zip(RATERS, (1, 1, 2), strict=True):
            rate_all(service, known[name], {"style": style, "content": 5, "fluency": 5})
        aspects = {row.aspect for row in service.judgments(known[""])}
        assert aspects == {"style", "content", "fluency", "derived_overall"}
        means = service.overview(known[""])["means"][DIRECTION]
        mean = (11 + 11 + 12) / 9
        assert means["Parrot"]["derived_overall"].mean == pytest.approx(mean * 0.6)
        assert means["Oracle9"]["derived_overall"].mean == pytest.approx(mean)

    def test_mirs_tasks_show_one_text_or_two_and_no_style(self, results, tmp_path):
        tasks = ["style_difference", "naturalness_absolute"]
        service, known = opened(results, tmp_path / "s", tasks=tasks)
        progress = service.overview(known[""])["progress"]
        for rater, key in ((row["rater"], known[row["name"]]) for row in progress):
            for position, question in enumerate(questions(service.study, rater)):
                screen, item = service.screen(key, position), question.item
                (aspect,) = screen["aspects"]
                alone = aspect["name"] == "naturalness"
                shown = [text["text"] for text in screen["texts"]]
                assert shown == ([item.output] if alone else [item.source, item.output])
                told = [screen[n] for n in ("source_style", "dataset", "overall_factor")]
                assert told == [None] * 3
                scores = {aspect["name"]: 1 + len(item.output) % 5}
                service.save(key, position, {"scores": scores})
        rows = service.judgments(known[""])
        agreed = service.overview(known[""])["agreement"][DIRECTION]
        assert {(row.aspect, row.scale) for row in rows} == {
            ("style_difference", "ordinal 1-5"),
            ("naturalness", "ordinal 1-5"),
        }
        assert all(row.score == 1 + len(row.output) % 5 for row in rows)
        assert {round(row.kappa.value, 9) for row in agreed} == {1}

    def test_naturalness_is_whether_the_output_was_chosen(self, results, tmp_path):
        service, known = opened(results, tmp_path / "s", tasks=["naturalness"])
        key, sources = known["Ann Archer"], {item.source for item in service.study.items}
        for screen in screens_of(service, key):
            texts = [text["text"] for text in screen["texts"]]
            output = next(i for i, text in enumerate(texts, start=1) if text not in sources)
            scores = {"naturalness_relative": output}
            service.save(key, screen["position"], {"scores": scores})
            assert service.screen(key, screen["position"])["answer"]["scores"] == scores
        rows = export(tmp_path / "s", tmp_path / "j.jsonl")
        assert {(row.score, row.scale) for row in rows} == {(1.0, "nominal 0-1")}
        assert "Parrot" not in {row.system for row in rows}

    def test_licensed_texts_stay_at_home(self, tmp_path):
        direction = "gyafc_em/informal-to-formal"
        results = write_reports(tmp_path / "results", SYSTEMS, direction=direction)
        create_study(results, [direction], None, RATERS, tmp_path / "s", per_system=1)
        service, ann = Service(tmp_path / "s"), keys(tmp_path / "s")["Ann Archer"]
        rate_all(service, ann)
        quote = SENTENCES[0][0]
        service.save(ann, 0, GOOD | {"flagged": True, "comment": quote})
        rows = export(tmp_path / "s", tmp_path / "j.jsonl")
        assert "overall" in {row.aspect for row in rows}
        assert {(row.source, row.output) for row in rows} == {(None, None)}
        assert {row.note for row in rows} == {None, "flagged"}
        assert not any(source in (tmp_path / "j.jsonl").read_text() for source, _ in SENTENCES)
