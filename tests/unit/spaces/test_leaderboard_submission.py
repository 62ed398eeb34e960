"""Submissions without a browser: what is refused, and what is published where."""

import inspect
import json
import shutil
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from threading import Barrier, BrokenBarrierError, Event
from unittest import TestCase

import pytest
from gyafc_copy import small_copy
from gyafc_copy import write as write_lines
from hub_double import TOKEN, running
from leaderboard_pages import Page, taken
from leaderboard_results import BACK, THERE, real_results, report, score_by_bleu, write

from tstbench.datasets_scripts.load import load_test_set
from tstbench.errors import InputError, TSTBenchError
from tstbench.files import process_folder
from tstbench.pipelines.hub.licensed import LicensedTextError
from tstbench.pipelines.report import SystemInfo, read_report, write_report
from tstbench.pipelines.results import read_stored
from tstbench.pipelines.submission import score_submission
from tstbench.pipelines.transfer import predict
from tstbench.spaces.leaderboard import submission, submit
from tstbench.spaces.leaderboard.data import Results
from tstbench.spaces.leaderboard.submission import (
    ScoreSubmission,
    ToFolder,
    ToPullRequest,
    check_outputs,
    check_system,
    place,
)
from tstbench.spaces.leaderboard.submit import Desk, Form, preview
from tstbench.spaces.web import NotThereError


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    return real_results(tmp_path_factory.mktemp("results"), directions=(THERE,), hostile=False)


def form(old="never", new="always", name="New", order=list, **fields):
    """Of a file whose outputs have another word than their sources."""
    lines = [source.replace(old, new) for source in load_test_set(THERE).sources]
    text = "".join(f"{line}\n" for line in order(lines))
    return Form(text.encode(), f"{new}.0", THERE, name, **{"confirmed": True, **fields})


def desk_of(root, score=score_by_bleu, publish=ToFolder, directions=(THERE,)):
    return Desk(Results(root), score, publish(root), directions)


@pytest.fixture
def scored(tmp_path):
    (tmp_path / "upload.txt").write_bytes(form().file)
    system = SystemInfo(name="New system", family="rule", date="2026-05")
    where = (tmp_path / "upload.txt", THERE, system, tmp_path / "scored")
    return score_by_bleu(*where, lambda share, text: None)


def test_a_name_that_may_be_had(tmp_path):
    """Letters are of any script; what another direction has is free, and a point makes a name."""
    for name in ("copy", "v11"):
        write(tmp_path, report(name, {"acc": 1.0}))
    board = Results(tmp_path).board()
    here, there = ("naïve", "日本語 1", "हिन्दी", "v1.1", "v11+"), ("copy", "COPY", "c-o-p-y")
    for direction, name in (*((THERE, name) for name in here), *((BACK, name) for name in there)):
        assert check_system(board, direction, name).name == name


class TestSuspicions:
    def test_the_outputs_of_another_system_are_no_new_one(self, results, tmp_path):
        board = Results(results).board()
        path = tmp_path / "again.txt"
        path.write_text("\n".join(predict("delete-retrieve", load_test_set(THERE))) + "\n")
        (same,) = check_outputs(board, path, THERE, SystemInfo(name="New"))
        assert "every output is that of delete-retrieve" in str(same)

    def test_a_sorted_file_is_scored_only_after_a_second_look(self, results, tmp_path):
        desk, ordered = desk_of(results), form(name="Sorted", order=sorted, confirmed=False)
        _, asked = taken(desk, ordered)
        assert "sorted by the alphabet" in asked["html"]
        assert (asked["doubtful"], asked["scored"]) == (True, False)
        _, shown = taken(desk, replace(ordered, confirmed=True))
        assert Page(shown["html"]).said.splitlines() == [
            "Preview: Sorted",
            "mini/negative-to-positive, 40 sentences, compared with 4 others.",
            "| Metric | Score | 95% interval | Rank by value",
            "| s-BLEU |  **5.8** | 0.0–13.6 | 2 of 2",
            "| r-BLEU |  **2.5** | 0.0–5.6 | 2 of 2",
            "| multi-BLEU |  **3.3** | 0.0–7.1 | 2 of 2",
        ]
        assert [shown[state] for state in ("open", "scored", "doubtful")] == [False, True, False]

    def test_what_a_refusal_quotes_of_a_file_is_text(self, results):
        line = b'{"id": "<img src=x>", "prediction": "a"}\n'
        _, told = taken(desk_of(results), Form(line, "x.jsonl", THERE, "New", confirmed=True))
        assert "&lt;img src=x&gt;" in told["html"]
        assert "<img" not in told["html"]

    def test_sentences_of_a_licensed_corpus_are_not_offered(self, results, tmp_path, monkeypatch):
        """Nor those of the user's own copy."""
        small_copy(tmp_path)
        monkeypatch.setenv("TSTBENCH_GYAFC", str(tmp_path / "GYAFC_Corpus"))
        licensed = "gyafc_em/formal-to-informal"
        assert load_test_set(licensed).sources
        desk = desk_of(results, directions=(THERE, licensed))
        file = desk.sources(THERE)
        assert file["name"] == "mini.negative-to-positive.txt"
        assert file["text"].splitlines() == list(load_test_set(THERE).sources)
        for direction in (licensed, BACK, "../x", None):
            with pytest.raises(InputError, match="are not offered"):
                desk.sources(direction)


def scratches():
    """The folders of submissions; other tests of this process may have some, too."""
    return set(process_folder().glob("tstbench-submission-*"))


class TestDesk:
    @pytest.fixture
    def results(self, tmp_path):
        return real_results(tmp_path / "results", directions=(THERE,), hostile=False)

    def test_what_the_form_says_is_in_the_report_and_scratch_goes_when_it_is_published(
        self, results, tmp_path
    ):
        desk, link, before = desk_of(results), "https://example.org/outputs", scratches()
        filled = {"family": "fpft", "parallel": "yes", "date": "2026-05", "url": link}
        ticket, told = taken(desk, form(name=" New   1 ", **filled))
        assert (told["scored"], len(scratches() - before)) == (True, 1)
        told = desk.add(ticket)
        assert "New 1 is on the leaderboard" in told["html"]
        assert (told["scored"], scratches()) == (False, before)
        (there,) = (one for one in Results(results).board().entries if one.label == "New 1")
        assert there.report.system == SystemInfo(
            name="New 1", family="fpft", needs_parallel=True, date="2026-05", outputs_url=link
        )
        assert "Score a file first" in desk.add(ticket)["html"]

    def test_who_forgot_something_is_told_and_nothing_is_kept(self, results):
        desk, double, before = desk_of(results), form(order=sorted).file, scratches()
        for file, name, direction, said in (
            (b"", "", THERE, "Choose a file first"),
            (b"one\n", "short.txt", "", "Choose a direction"),
            (b"one\n", "short.txt", BACK, "Choose a direction"),
            (b"one\n", "short.txt", THERE, "short.txt has 1 "),
            (b"one\n", "../../short.jsonl", THERE, "../../short.jsonl"),
            (b"\xff\n", "short.txt", THERE, "UTF-8"),
            (double, "sorted.txt", THERE, "sorted by the alphabet"),
        ):
            ticket, told = taken(desk, Form(file, name, direction, "New"))
            assert said in told["html"]
            assert str(process_folder()) not in told["html"]
            assert (told["scored"], told["doubtful"]) == (False, file == double)
            told = desk.add(ticket)
            assert "Score a file first" in told["html"]
            assert not told["scored"]
        assert scratches() == before
        for ticket in ("x", None, 3, []):
            with pytest.raises(NotThereError, match="no longer here"):
                desk.add(ticket)

    def test_what_was_scored_goes_when_many_others_were(self, results, monkeypatch):
        monkeypatch.setattr(submit, "_KEPT", 2)
        desk, before = desk_of(results), scratches()
        oldest, *_ = (taken(desk, form())[0] for _ in range(3))
        assert len(scratches() - before) == 2
        with pytest.raises(NotThereError):
            desk.look(oldest)

    def test_peoples_own_rewrites_are_no_suspicion_where_they_are_called_so(
        self, results, tmp_path
    ):
        """Of a bound only the form of the lines is looked at."""
        path = tmp_path / "second.txt"
        lines = sorted(some[1] for some in load_test_set(THERE).references)
        path.write_text("\n".join(lines) + "\n")
        board = Results(results).board()
        assert check_outputs(board, path, THERE, SystemInfo(name="ours"))
        assert check_outputs(board, path, THERE, SystemInfo(name="ours", family="human")) == []


class TestScoring:
    def test_the_pipelines_function_fits_the_seam(self):
        wanted = inspect.signature(ScoreSubmission.__call__).parameters
        assert ["self", *inspect.signature(score_submission).parameters] == list(wanted)

    def test_one_at_a_time_and_who_waits_is_told(self, results):
        begun, go = Event(), Event()

        def score(path, direction, system, out, progress):
            progress(0.5, "by hand")
            begun.set()
            assert go.wait(60)
            return score_by_bleu(path, direction, system, out, progress)

        desk = desk_of(results, score)
        first = desk.submit(form())["ticket"]
        assert begun.wait(60)
        begun.clear()
        assert "By hand ..." in desk.look(first)["html"]
        second = desk.submit(form())
        assert "Waiting for its turn ..." in second["html"]
        assert not begun.is_set()
        go.set()
        assert taken(desk, form())[1]["scored"]
        assert desk.look(first)["scored"]
        assert desk.look(second["ticket"])["scored"]


class TestToFolder:
    def test_the_page_shows_it_ranked(self, scored, tmp_path):
        root = real_results(tmp_path / "results", directions=(THERE,), hostile=False)
        receipt = ToFolder(root)(scored)
        assert "New system is on the leaderboard" in receipt.message
        (entry,) = [e for e in Results(root).board().of(THERE) if e.label == "New system"]
        assert entry.folder.parent == root / THERE
        assert entry.folder.name.startswith("submission-")
        assert read_stored(entry.folder).samples() == read_stored(scored).samples()
        record = json.loads((root / THERE / "significance.json").read_text())
        assert all("New system" in one["ranks"] for one in record.values())
        with pytest.raises(InputError, match="already submitted"):
            ToFolder(root)(scored)

    def test_neither_a_damaged_neighbour_nor_a_failed_comparison_fails_what_was_published(
        self, scored, tmp_path
    ):
        root = real_results(tmp_path / "results", directions=(THERE,), hostile=False)
        (root / THERE / "delete-retrieve" / "replicates.parquet").write_bytes(b"")
        (root / THERE / "random-target" / "report.json").write_text("{")
        receipt = ToFolder(root)(scored)
        assert receipt.message.endswith(f"is on the leaderboard of {THERE}.")
        record = json.loads((root / THERE / "significance.json").read_text())
        assert record
        assert all(set(one["ranks"]) == {"New system"} for one in record.values())
        shutil.rmtree(next((root / THERE).glob("submission-*")))
        (root / THERE / "significance.json").unlink()
        (root / THERE / "significance.json").mkdir()  # nor can the systems be compared
        assert ToFolder(root)(scored).message.endswith("; its rank follows later.")
        assert len(list((root / THERE).glob("submission-*/report.json"))) == 1

    def test_a_folder_that_takes_nothing(self, scored, tmp_path):
        (tmp_path / "results").write_text("a file, which nobody can write into, root included")
        with pytest.raises(
            InputError, match=r"of results cannot be written \(\w[ \w]+\)"
        ) as caught:
            ToFolder(tmp_path / "results")(scored)
        assert str(tmp_path) not in str(caught.value)

    @pytest.mark.parametrize("name", ["..", "../../../etc/passwd", "a/b", "con", "-rf", " "])
    def test_no_path_comes_from_a_name(self, name):
        where = Path(place(report(name, {"acc": 1.0})))
        assert where.parent == Path(THERE)
        assert where.name.startswith("submission-")
        assert where.name.removeprefix("submission-").isalnum()


class TestTwoSessions:
    def test_one_name_is_published_once(self, results, tmp_path, monkeypatch):
        """All have checked their name before any of them publishes, at the same moment."""
        all_checked = Barrier(3)

        def checked_by_all(*given, check=submission._check_new):
            check(*given)
            with suppress(BrokenBarrierError):  # under the lock nobody else comes here
                all_checked.wait(0.3)

        monkeypatch.setattr(submission, "_check_new", checked_by_all)
        root = shutil.copytree(results, tmp_path / "results")
        desk, names = desk_of(root), ("New System", "NEW SYSTEM", "New-System")
        words = ("is", "will be", "has been")
        tickets = [taken(desk, form("was", *one))[0] for one in zip(words, names, strict=True)]
        with ThreadPoolExecutor(3) as pool:
            told = list(pool.map(desk.add, tickets))
        assert [one["scored"] for one in told].count(False) == 1
        for one in told:
            said = "is already on the leaderboard" if one["scored"] else "is on the leaderboard"
            assert said in one["html"]
        assert len(list((root / THERE).glob("submission-*"))) == 1

    def test_a_bug_is_said_and_nothing_is_lost(self, results):
        class Broken(ToFolder):
            def __call__(self, folder):
                raise IndexError(folder)

        desk = desk_of(results, publish=Broken)
        ticket, _ = taken(desk, form())
        with TestCase().assertLogs() as logs:
            told = desk.add(ticket)
        assert "see the log. The scores are not lost: try again" in told["html"]
        assert told["scored"]
        assert "IndexError" in str(logs.output)
        desk._publish = ToFolder(results)
        assert "New is on the leaderboard" in desk.add(ticket)["html"]
        shutil.rmtree(next((results / THERE).glob("submission-*")))

    def test_a_bug_in_scoring_is_not_the_files_fault(self, results):
        desk = desk_of(results, score=lambda *_: 1 / 0)
        with TestCase().assertLogs() as logs:
            _, told = taken(desk, form())
        assert "Scoring failed because of a bug, not because of your file" in told["html"]
        assert not told["scored"]
        assert "ZeroDivisionError" in str(logs.output)

    def test_a_submission_without_scores(self, results, tmp_path):
        write_report(tmp_path / "empty", report("New", {}, left_out=[("acc", "no reason")]), [])
        with pytest.raises(InputError, match=r"no metric could be computed.*no reason"):
            preview(Results(results).board(), tmp_path / "empty")


class TestToPullRequest:
    @pytest.fixture
    def hub(self, monkeypatch, online):
        with running() as hub:
            monkeypatch.setenv("HF_TOKEN", TOKEN)
            from huggingface_hub import HfApi

            api = HfApi(endpoint=hub.url, token=TOKEN)
            api.create_repo("tstbench/results", repo_type="dataset")
            yield hub

    @staticmethod
    def proposed(hub):
        repo = hub.repos["dataset", "tstbench/results"]
        assert not any("submission-" in path for path in repo.files), "main is a person's to change"
        (files,) = repo.proposed
        return files

    def test_report_and_texts_arrive(self, hub, scored):
        receipt = ToPullRequest("tstbench/results", endpoint=hub.url)(scored)
        assert receipt.url == f"{hub.url}/datasets/tstbench/results/discussions/1"
        files = self.proposed(hub)
        where = place(read_report(scored))
        assert {p for p in files if p.startswith(where)} == {
            f"{where}/report.json",
            f"{where}/samples.jsonl",
            f"{where}/replicates.parquet",
        }
        assert files[f"{where}/report.json"] == (scored / "report.json").read_bytes()

    @pytest.mark.parametrize("there", ["gyafc_fr/informal-to-formal", "unheard/rude-to-polite"])
    def test_no_sentence_of_a_licensed_or_unknown_corpus_leaves(self, hub, scored, tmp_path, there):
        samples = read_stored(scored).samples()
        write_report(tmp_path / "ours", report("ours", {"acc": 1.0}, there), samples)
        ToPullRequest("tstbench/results", endpoint=hub.url)(tmp_path / "ours")
        files = self.proposed(hub)
        assert [p.rsplit("/")[-1] for p in files if p.startswith(there)] == ["report.json"]
        assert not any(samples[0].source.encode() in content for content in files.values())

    def test_nor_does_one_in_the_outputs_for_an_open_corpus(
        self, hub, scored, tmp_path, monkeypatch
    ):
        said = max((one.prediction for one in read_stored(scored).samples()), key=len)
        write_lines(small_copy(tmp_path) / "Entertainment_Music/train/formal", [said.upper()])
        monkeypatch.setenv("TSTBENCH_GYAFC", str(tmp_path / "GYAFC_Corpus"))
        with pytest.raises(LicensedTextError, match=r"samples\.jsonl quotes a sentence"):
            ToPullRequest("tstbench/results", endpoint=hub.url)(scored)
        assert hub.repos["dataset", "tstbench/results"].proposed == []

    @pytest.mark.parametrize("status", [401, 403])
    def test_a_refusal_says_what_to_do(self, hub, scored, status):
        hub.refuse["tstbench/results"] = (status, "no")
        with pytest.raises(TSTBenchError, match=rf"HTTP {status}.*HF_TOKEN") as caught:
            ToPullRequest("tstbench/results", endpoint=hub.url)(scored)
        assert TOKEN not in str(caught.value)

    @staticmethod
    def named(scored, tmp_path, name, direction=THERE):
        """A submission with the same outputs, by another name."""
        one = read_report(scored)
        new = {"system": SystemInfo(name=name), "direction": direction}
        one = one.model_copy(update=new)
        folder = tmp_path / f"{len(list(tmp_path.iterdir()))}"
        write_report(folder, one, read_stored(scored).samples())
        return folder

    def test_one_name_is_proposed_once(self, hub, scored, tmp_path):
        publish = ToPullRequest("tstbench/results", endpoint=hub.url)
        publish(scored)
        for other in ("Another", "A third", "Add x on y"):  # so that there are several pages
            publish(self.named(scored, tmp_path, other))
        for same in ("NEW SYSTEM", "new-system", "New system"):
            with pytest.raises(InputError, match=r"New system was already .*pull request 1\)"):
                publish(self.named(scored, tmp_path, same))
        publish(self.named(scored, tmp_path, "New system", BACK))
        repo = hub.repos["dataset", "tstbench/results"]
        assert len(repo.proposed) == 5
        repo.closed.add(1)  # a person said no: the name is free again
        publish(self.named(scored, tmp_path, "NEW SYSTEM"))
        assert repo.titles[-1] == f"Add NEW SYSTEM on {THERE}"

    def test_of_two_sessions_one_opens_a_pull_request(self, hub, scored, tmp_path):
        folders = [self.named(scored, tmp_path, name) for name in ("Twin", "TWIN", "twin", "t-win")]

        def send(folder):
            try:
                return ToPullRequest("tstbench/results", endpoint=hub.url)(folder).message
            except InputError as error:
                return str(error)

        with ThreadPoolExecutor(4) as pool:
            said = list(pool.map(send, folders))
        assert sum("is open on" in one for one in said) == 1
        assert sum("was already submitted" in one for one in said) == 3
        assert len(hub.repos["dataset", "tstbench/results"].proposed) == 1
