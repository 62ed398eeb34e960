"""A study is what its owner asked for, and what the owner is told of it is current."""

import json
import random
import resource
import shutil
from itertools import pairwise

import pytest
from annotate_study import DIRECTION, GOOD, RATERS, SENTENCES, SYSTEMS, keys, make, write_reports

from tstbench.errors import InputError
from tstbench.spaces.annotate import create_study, export, links
from tstbench.spaces.annotate.answers import Answer, AnswerLog
from tstbench.spaces.annotate.desk import Desk
from tstbench.spaces.annotate.order import questions

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
    make(results, tmp_path / "study", per_system=2)
    return tmp_path / "study"


@pytest.fixture
def desk(folder):
    desk = Desk(folder)
    yield desk
    desk.close()


def rate_all(desk, key, style):
    for position in range(desk.enter(key)["total"]):
        desk.save(key, position, {"scores": GOOD["scores"] | {"style": style}})


class TestTheDraw:
    def test_is_of_sorted_sentences_so_that_it_is_the_same_in_every_process(
        self, results, tmp_path
    ):
        study = make(results, tmp_path / "s", per_system=3, seed=5)
        every = [f"s{number}" for number in range(len(SENTENCES))]
        drawn = random.Random(f"5|sample|{DIRECTION}").sample(every, 3)
        assert list(dict.fromkeys(item.sample_id for item in study.items)) == drawn

    def test_does_not_depend_on_the_order_in_which_things_are_named(self, both, tmp_path):
        def items(out, directions, systems):
            return create_study(both, directions, systems, ["ann"], out, per_system=3).items

        one = items(tmp_path / "a", [DIRECTION, BACK], ["Silent", "Parrot"])
        assert items(tmp_path / "b", [BACK, DIRECTION], ["Parrot", "Silent"]) == one

    def test_two_reports_of_one_system_are_refused(self, results, tmp_path):
        shutil.copytree(results / DIRECTION / "parrot", results / DIRECTION / "parrot-again")
        with pytest.raises(InputError, match="two reports of 'Parrot'"):
            make(results, tmp_path / "s")
        assert not (tmp_path / "s").exists()


class TestTheScreens:
    def test_raters_do_not_all_go_on_with_the_same_direction(self, both, tmp_path):
        folder = tmp_path / "s"
        study = create_study(both, [DIRECTION, BACK], None, RATERS, folder, per_system=8, seed=1)
        screens = [questions(study, rater)[2 * 8 :] for rater in study.raters]  # after the start
        of = [[q.item.direction for q in some] for some in screens]
        assert {directions[0] for directions in of} == {DIRECTION, BACK}
        assert all(sum(a != b for a, b in pairwise(some)) == 1 for some in of)

    def test_only_a_copy_costs_part_of_a_derived_overall(self, results, tmp_path):
        make(results, tmp_path / "three", per_system=2, tasks=["rating"])
        desk, ann = Desk(tmp_path / "three"), keys(tmp_path / "three")["Ann Archer"]
        screens = [desk.screen(ann, i) for i in range(desk.enter(ann)["total"])]
        factors = {}
        for screen in screens:
            texts = {text.role: text.text for text in screen.texts}
            factors.setdefault(texts["source"] == texts["output"], set()).add(screen.overall_factor)
        desk.close()
        assert factors == {True: {0.6}, False: {1.0}}

    def test_where_overall_is_asked_none_is_derived(self, desk, folder):
        screen = desk.screen(keys(folder)["Ann Archer"], 0)
        assert [aspect.name for aspect in screen.aspects] == list(GOOD["scores"])
        assert screen.overall_factor is None


class TestTheOwner:
    def test_numbers_follow_the_next_answer(self, desk, folder):
        known = keys(folder)

        def mean():
            rows = desk.statistics(known[""])["means"]
            (found,) = (r for r in rows if (r["system"], r["aspect"]) == ("Silent", "style"))
            return found["mean"]

        rate_all(desk, known["Ann Archer"], 2)
        assert mean() == 2
        rate_all(desk, known["Ann Archer"], 5)
        assert mean() == 5

    def test_reads_what_raters_skipped_and_what_they_flagged(self, desk, folder):
        known = keys(folder)
        desk.save(known["Ann Archer"], 0, {"skipped": True, "comment": "two languages"})
        desk.save(known["Ben Baker"], 1, GOOD | {"flagged": True, "comment": "odd"})
        desk.save(known["Ben Baker"], 2, GOOD | {"comment": "fine"})
        remarks = desk.overview(known[""])["remarks"]
        told = {(one["kind"], one["comment"]) for one in remarks}
        assert told == {("skipped", "two languages"), ("flagged", "odd")}


class TestTheFolder:
    def test_raters_without_their_secret_are_not_served(self, folder):
        private = json.loads((folder / "private.json").read_text())
        del private["raters"]["rater-2"]
        (folder / "private.json").write_text(json.dumps(private))
        with pytest.raises(InputError, match="name different raters"):
            Desk(folder)

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
            Desk(tmp_path / "study")

    def test_a_damaged_file_of_secrets_is_told_of_without_them(self, folder):
        private = json.loads((folder / "private.json").read_text())
        secret = private["owner_token"] = "s" * 31
        (folder / "private.json").write_text(json.dumps(private))
        with pytest.raises(InputError, match=r"private\.json is damaged: owner_token: ") as told:
            Desk(folder)
        assert secret not in str(told.value)

    def test_what_a_browser_keeps_is_of_one_rater_and_one_study(self, desk, results, tmp_path):
        """Two raters at one computer, and a study made again, share no drafts."""
        make(results, tmp_path / "again", per_system=3)
        shutil.copy(desk.folder / "private.json", tmp_path / "again/private.json")
        other, known = Desk(tmp_path / "again"), keys(desk.folder)
        ann, ben = known["Ann Archer"], known["Ben Baker"]
        names = [one.enter(key)["drafts"] for one in (desk, other) for key in (ann, ben)]
        other.close()
        assert len(set(names)) == 4
        assert names[0] == desk.enter(ann)["drafts"]

    def test_a_link_has_one_slash(self, folder):
        known = keys(folder)
        for base in ("http://127.0.0.1:7861", "http://127.0.0.1:7861/"):
            found = links(folder, base)
            assert found.owner == f"http://127.0.0.1:7861/?key={known['']}"
            assert found.raters["Ben Baker"] == f"http://127.0.0.1:7861/?key={known['Ben Baker']}"

    def test_an_answer_to_a_task_that_was_not_asked_is_refused(self, desk, folder, tmp_path):
        desk.save(keys(folder)["Ann Archer"], 0, GOOD)
        path = next((folder / "answers").iterdir())
        said = {"task": "naturalness", "scores": {"naturalness_relative": 1}}
        path.write_text(json.dumps({**json.loads(path.read_text()), **said}) + "\n")
        with pytest.raises(InputError, match=r"naturalness of item-\d+, which is not part of this"):
            export(folder, tmp_path / "out.jsonl")

    def test_of_an_answer_that_does_not_fit_on_the_disk_nothing_is_kept(self, tmp_path):
        log = AnswerLog(tmp_path / "rater-1.jsonl")
        answer = Answer(
            task="rating", item="item-1", scores={"style": 3}, at="2026-01-01T00:00:00Z"
        )
        log.append(answer)
        before = log.path.read_bytes()
        room, most = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 10, most))
        try:
            with pytest.raises(OSError, match="only 10 of"):
                log.append(answer.model_copy(update={"item": "item-2"}))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (room, most))
        assert log.path.read_bytes() == before
        assert list(log.latest) == [("rating", "item-1")]
