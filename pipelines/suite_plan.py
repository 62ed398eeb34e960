"""What a run of a suite would do, need and take, cell by cell, without doing any of it.

Everything is looked for as a run looks for it, but offline: what is not here for that reason alone
would be downloaded by the run; what is missing for another, only the user can get.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from importlib.metadata import PackageNotFoundError
from pathlib import Path

from ..chat.connection import api_key
from ..chat.cost import Estimate
from ..chat.refusals import RETIRED
from ..chat.settings import OPENAI_URL
from ..console import shown
from ..datasets_scripts.catalog import parse_dataset, parse_direction
from ..datasets_scripts.directions import Direction
from ..datasets_scripts.load import TestSet, split_to_learn
from ..datasets_scripts.sources import UpstreamFile
from ..errors import MISSING, TSTBenchError, require_installed
from ..hub import fetch_model, is_repo_id, offline
from ..metrics.measure import roles_needed
from ..metrics.scorers.artefacts import kind_and_split
from ..metrics.scorers.prepare import is_trained_here
from ..metrics.scorers.profile import Scorers
from ..metrics.scorers.train import default_config
from ..pace import duration
from ..settings import read_settings
from ..trainers.load import is_same_but_seed, takes_long
from ..trainers.prompted import Chat, dry_run
from ..trainers.system import SYSTEM_STORE, Request, Task, system_class
from ..trainers.train import system_config
from .jobs import Work, Workplace
from .scoring import Scoring
from .suite import EVERYTHING, Changes, Part, open_suite
from .suite_file import Cell, SystemCell

# What a cell is ready for, as one letter of the table.
STATES = {
    "=": "scored",
    "S": "to score: its outputs exist",
    "W": "to write and score: nothing has to be trained",
    "Q": "to ask a server and score",
    "T": "to train, write and score",
    "!": "something is missing that no run can get: see below",
}
Groups = dict[str, list[Cell]]
_COLUMNS = 14  # directions beside one another in 80 columns
_MOST_TO_DO = "!TQWS="  # states, the most needy first
_OFFLINE = "HF_HUB_OFFLINE is set"  # in every message that says why nothing was downloaded


@dataclass
class _Needs:
    """What is not here.

    Attributes:
        downloads: what a run downloads.
        missing: what only the user can get, in the words of the error that the run would have.
    """

    downloads: set[str] = field(default_factory=set)
    missing: list[str] = field(default_factory=list)

    def add(self, error: TSTBenchError) -> None:
        """Note an error, unless it only says that nothing is downloaded now."""
        if _OFFLINE not in str(error):
            self.missing.append(str(error))

    def of_split(self, dataset: str, split: str) -> None:
        """Note the files of a split that are not here."""
        files = [
            f for part in parse_dataset(dataset).parts if part.name == split for f in part.files
        ]
        absent = [f for f in files if isinstance(f, UpstreamFile) and "absent" in str(f.state())]
        if absent:
            size = sum(file.size or 0 for file in absent) / 1e6
            known = f", {size:.1f} MB as far as known" * bool(size)
            self.downloads.add(f"{len(absent)} files of {dataset}, {split} (GitHub{known})")

    def of_hub(self, name: object) -> None:
        """Note a model of the Hub that is not in its cache, or a folder that is not there."""
        if not isinstance(name, str) or Path(name).exists():
            return
        if is_repo_id(name):
            try:
                fetch_model(name)
            except MISSING:
                self.downloads.add(f"{name} (Hub)")
        elif "/" in name:
            self.missing.append(f"there is no folder {name}")


@dataclass(frozen=True)
class _Training:
    """A model to train, which directions that are learned together share, and gammas of a DAR."""

    what: str
    seconds: float | None  # that it takes, if that was measured here
    slow: bool


@dataclass(frozen=True)
class _Planned:
    cell: Cell
    state: str
    needs: _Needs
    training: _Training | None = None
    chat: bool = False  # whether a server would be asked
    estimate: Estimate | None = None  # what that takes, if the data are here


def plan_suite(
    path: str | Path,
    part: Part = EVERYTHING,
    changes: Changes = Changes(),  # noqa: B008
) -> str:
    """What a run would do, for people: a summary, a table, and what is missing.

    Args:
        path: as :func:`.suite.run_suite`, like all that follow.
        part: which systems, directions and metrics.
        changes: of the file.

    Raises:
        UnknownNameError, InputError: a mistake in the suite or in a file that it names.
    """
    with offline():
        suite, root, every = open_suite(path, changes)
        whole = suite.scoring()
        how = replace(whole, metrics=part.metrics_of(whole.metrics))
        groups = part.of(every)
        found = []
        workplace = Workplace(Work(how, root))
        for direction, some in shown(groups.items(), "looking for what is there", len(groups)):
            found += _direction(parse_direction(direction), some, workplace)
        return "\n".join(_told(str(path), found, groups, how, root))


def _direction(direction: Direction, some: Sequence[Cell], workplace: Workplace) -> list[_Planned]:
    shared, how = _Needs(), workplace.how
    shared.of_split(direction.dataset, "test")
    test_set = None
    try:
        test_set = workplace.test_set(direction.name)
    except MISSING as error:
        shared.add(error)
    _scorers(direction.dataset, how.scorers(direction), how, shared)
    checked = list[tuple[Cell, _Needs]]()
    for cell in some:
        needs = _Needs({*shared.downloads}, [*shared.missing])
        if test_set is not None:
            try:
                workplace.jobs += workplace.jobs_of(cell, workplace.check(cell))
            except MISSING as error:
                needs.add(error)
                if not isinstance(cell, SystemCell):
                    needs.downloads.add(f"outputs of {cell.info.name} (GitHub)")
        checked.append((cell, needs))
    return [_cell(*one, direction, test_set, workplace) for one in checked]


def _scorers(dataset: str, scorers: Scorers, how: Scoring, needs: _Needs) -> None:
    for name in roles_needed(how.metrics, scorers, how.choices):
        spec = how.profile.spec(name)
        kind, split = kind_and_split(spec)
        try:
            if not is_trained_here(name, spec):
                scorers.find(name)
                continue
            for one in (split_to_learn(dataset, split or None), "validation"):
                needs.of_split(dataset, one)
            if name in ("classifier", "paper_classifier", "attribution"):
                needs.of_hub(getattr(default_config(kind), "base", None))
        except MISSING as error:
            needs.add(error)
            needs.of_hub(spec.split("@")[0])


def _cell(
    cell: Cell,
    needs: _Needs,
    direction: Direction,
    test_set: TestSet | None,
    workplace: Workplace,
) -> _Planned:
    """The first thing that a run would do for a cell."""
    jobs = {job.kind: job for job in workplace.jobs if job.cell == cell}
    undone = {kind for kind, job in jobs.items() if not workplace.is_done(job)}
    if jobs and "score" not in undone:
        return _Planned(cell, "=", _Needs())
    state, asked, training_of = "S", None, None
    if isinstance(cell, SystemCell) and ("transfer" in undone or not jobs):
        kind = system_class(cell.name) if cell.stored is None else cell.stored.kind
        if issubclass(kind, Chat):
            state, asked = "Q", _asked(cell, kind, direction, test_set, needs)
        elif "train" in undone or not (jobs or kind.Config is None or cell.stored):
            state, training_of = "T", _training(cell, direction, needs)
        else:
            state = "W"
    chat = state == "Q"
    return _Planned(cell, "!" if needs.missing else state, needs, training_of, chat, asked)


def _training(cell: SystemCell, direction: Direction, needs: _Needs) -> _Training:
    """The training; what it reads besides the dataset is noted."""
    kind = system_class(cell.name)
    learned = kind.direction_to_learn(direction)
    chosen = cell.choice
    config = system_config(cell.name, learned, chosen.settings, preset=chosen.preset)
    try:
        kind.versions()
        kind.check_settings(config)
    except PackageNotFoundError as error:
        needs.missing.append(f"{error.name} is not installed: pip install 'tstbench[train]'")
    except MISSING as error:
        needs.add(error)
    split = chosen.split or kind.split_to_learn(learned.dataset)
    for one in (split_to_learn(learned.dataset, split), "validation"):
        needs.of_split(learned.dataset, one)
    for name in kind.LOCAL:
        needs.of_hub(getattr(config, name))
    slow = takes_long(cell.name, learned, config, cell.device)
    return _Training(f"{cell.name} {learned.name} {config}", _seconds(cell), slow)


def _seconds(cell: SystemCell) -> float | None:
    """How long trainings of this system with these settings took here, on average."""
    took = []
    for model in SYSTEM_STORE.models():
        card = model.card
        if card.kind != cell.name or "seconds" not in card.made:
            continue
        learned = card.directions[0] if card.directions else "mini/negative-to-positive"
        usual = system_config(
            cell.name, parse_direction(learned), cell.choice.settings, preset=cell.choice.preset
        )
        if is_same_but_seed(read_settings(type(usual), card.settings, cell.name), usual):
            took.append(float(str(card.made["seconds"])))
    return sum(took) / len(took) if took else None


def _asked(
    cell: SystemCell,
    kind: type[Chat],
    direction: Direction,
    test_set: TestSet | None,
    needs: _Needs,
) -> Estimate | None:
    settings = kind.read_generation(cell.generation)
    try:
        api_key(settings)
        require_installed("openai", "llm")
    except TSTBenchError as error:
        needs.missing.append(str(error))
    if settings.model in RETIRED and settings.url == OPENAI_URL:
        needs.missing.append(
            f"OpenAI has retired {settings.model}: take another model, --set SYSTEM.model=MODEL, "
            "or a server that has it, OPENAI_BASE_URL; outputs that were published: 'tstbench run "
            "published'"
        )
    if test_set is None:
        return None
    task = Task(direction, cell.generation.seed, settings, "auto")
    requests = [Request(*one) for one in zip(test_set.ids, test_set.sources, strict=True)]
    try:
        return dry_run(requests, task).estimate
    except MISSING as error:
        needs.add(error)
        return None


def _told(
    name: str, found: list[_Planned], groups: Groups, how: Scoring, root: Path
) -> Iterable[str]:
    directions = list(groups)
    fullest = sorted(groups.values(), key=len, reverse=True)
    systems = list(dict.fromkeys(one.names[-1] for some in fullest for one in some))
    size = f"{len(systems)} systems, {len(directions)} directions, {len(found)} cells"
    yield f"{name}: {size}"
    yield f"profile {how.profile.name}; results in {root}"
    counts = Counter(one.state for one in found)
    yield from (f"{counts[one]:>6}  {one}  {what}" for one, what in STATES.items() if counts[one])
    yield from _takes(found)
    yield "Nothing was downloaded, trained, asked or scored."
    states: dict[tuple[str, str], str] = {}
    for one in found:  # of several seeds, the one that needs most
        key = one.cell.names[-1], one.cell.direction
        states[key] = min(states.get(key, one.state), one.state, key=_MOST_TO_DO.index)
    for start in range(0, len(directions), _COLUMNS):
        block = list(enumerate(directions, start=1))[start : start + _COLUMNS]
        yield "\n" + " " * 22 + "".join(f"{number:>4}" for number, _ in block)
        for system in systems:
            row = (states.get((system, direction), ".") for _, direction in block)
            yield f"  {system[:20]:<20}" + "".join(f"{letter:>4}" for letter in row)
        yield from (f"  {number:>2}  {direction}" for number, direction in block)
    needs = [(one, one.needs) for one in found]
    yield from _listed(
        "Missing, and how to get it", [(m, p) for p, n in needs for m in dict.fromkeys(n.missing)]
    )
    downloads = [(what, p) for p, n in needs for what in sorted(n.downloads)]
    yield from _listed("To be downloaded by the run", downloads)


def _takes(found: list[_Planned]) -> Iterable[str]:
    train = {one.training for one in found if one.state == "T" and one.training}
    if train:
        known = [one.seconds for one in train if one.seconds is not None]
        rest = [one for one in train if one.seconds is None]
        slow = sum(one.slow for one in rest)
        parts = [f"about {duration(sum(known))} for {len(known)}, as measured here"] * bool(known)
        if rest:
            parts.append(f"no estimate for {len(rest)}: none was trained here with its settings")
        if slow:
            parts.append(f"without a GPU {slow} with published settings take hours or days each")
        yield f"Training of {len(train)} models: {'; '.join(parts)}"
    chats = [one for one in found if one.chat]
    asked = [one.estimate for one in chats if one.estimate is not None]
    if asked:
        prompts = sum(one.prompt_tokens for one in asked)
        answers = sum(one.answer_tokens for one in asked)
        priced = [(one.price, one) for one in asked if one.price is not None]
        least = sum(price.of(one.prompt_tokens) for price, one in priced)
        most = sum(price.of(one.prompt_tokens, one.answer_tokens) for price, one in priced)
        yield (
            f"Asking: {sum(one.requests for one in asked):,} requests, {prompts:,} tokens of "
            f"prompts, at most {answers:,} of answers: ${least:.2f} to ${most:.2f}"
            + f", without {len(asked) - len(priced)} cells whose price is not known"
            * (len(priced) < len(asked))
        )
    if len(asked) < len(chats):
        yield f"Asking: no estimate for {len(chats) - len(asked)} cells whose data are not here"


def _listed(title: str, things: list[tuple[str, _Planned]]) -> Iterable[str]:
    users: dict[str, list[_Planned]] = {}
    for what, planned in things:
        users.setdefault(what, []).append(planned)
    if users:
        yield f"\n{title}:"
    for what, some in users.items():
        names = list(dict.fromkeys(one.cell.names[-1] for one in some))
        who = ", ".join(names) if len(names) < 6 else f"{len(names)} systems"
        yield f"- {what}\n    {who}: {len(some)} cells"
