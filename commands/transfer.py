r"""Have a system rewrite a direction's test set, into a file that 'evaluate' reads.

SYSTEM is a name (copy, random-target, delete-retrieve, reference-1, reference-2, chatgpt,
chatgpt-fs, gpt4, gpt4-fs, or chat for any chat model), a folder that 'train' wrote, or a Hub id. A
folder takes precedence over a name.
The file is written line by line: after an interruption, run the same command again and it continues
where it stopped. A card beside the file (*.card.json) records system, test set, seed and settings.

Examples:
  tstbench transfer delete-retrieve --direction yelp/negative-to-positive --out dr.jsonl
  tstbench transfer my-folder --direction mini/negative-to-positive --seed 1
  tstbench transfer chat --model NAME --base-url http://127.0.0.1:8000/v1 \
      --direction mini/negative-to-positive --dry-run
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ..console import say, show_data
from ..errors import InputError
from ..trainers.prompted import ChatSettings
from .arguments import Arguments, Parser, add_data_dir, add_flags, add_yes, given_texts

if TYPE_CHECKING:
    from ..datasets_scripts.load import TestSet
    from ..trainers.system import Generation, System


def add_arguments(parser: Parser) -> None:
    """Add system, direction, file, and how to generate."""
    parser.add_argument("system", help="name, folder or Hub id")
    parser.add_argument("--direction", required=True, help="such as yelp/negative-to-positive")
    parser.path("--out", "FILE.jsonl", "default: predictions/<dataset>/<direction>/<system>.jsonl")
    parser.add_argument(
        "--seed", type=int, default=0, help="random seed of the generation (default 0)"
    )
    parser.several("--generation", "KEY=VALUE", "generation settings of the system")
    parser.add_argument(
        "--postprocess",
        default="",
        metavar="STEP,STEP",
        help="what to do to the answers, in the order given: drop-unknown, drop-repeats, truncate "
        "(after the first sentence), detokenise; default: nothing",
    )
    parser.add_argument(
        "--split", help="what a system that is not trained yet learns from; see 'tstbench train'"
    )
    parser.add_argument("--batch-size", type=int, metavar="N", help="sentences per batch")
    parser.add_argument("--device", default="auto", help="auto (default), cpu, cuda...")
    parser.add_argument("--revision", help="branch, tag or commit of a Hub id")
    add_data_dir(parser)
    parser.switch(
        "--dry-run", "prompted systems: print every request, as JSON Lines, and its cost; send none"
    )
    add_yes(parser)
    add_flags(parser, "prompted systems (chatgpt, chatgpt-fs, gpt4, gpt4-fs, chat)", ChatSettings)


def run(arguments: Arguments) -> None:
    """Rewrite the test set and write the predictions."""
    from ..datasets_scripts.load import load_test_set
    from ..files import write_jsonl
    from ..pace import agreed
    from ..pipelines.output_checks import warn
    from ..pipelines.outputs import Outputs
    from ..pipelines.references import bound_predictions, is_reference
    from ..pipelines.results import folder_name
    from ..pipelines.transfer import predictions_path, transfer
    from ..settings import from_texts
    from ..trainers.load import Choice, find_system, prefer_folder
    from ..trainers.system import Generation

    test_set = load_test_set(arguments.direction, data_dir=arguments.data_dir)
    usual = Path("predictions")
    if is_reference(arguments.system):
        if arguments.dry_run:
            raise InputError(f"--dry-run: {arguments.system} is people's, and nobody is asked")
        if arguments.postprocess:
            raise InputError(f"--postprocess: {arguments.system} is people's, and stays as it is")
        texts = bound_predictions(arguments.system, test_set)
        path = _path(arguments.out, predictions_path(usual, test_set, arguments.system))
        rows = zip(test_set.ids, texts, strict=True)
        write_jsonl(path, ({"id": name, "prediction": text} for name, text in rows))
    else:
        system = arguments.system
        found = find_system(
            system if arguments.revision else prefer_folder(system, test_set.direction),
            test_set.direction,
            revision=arguments.revision,
            data_dir=arguments.data_dir,
            choice=Choice(split=arguments.split),
        )
        texts_given = {**_pairs(arguments.generation), **given_texts(ChatSettings, arguments)}
        of = f"{found.card.name}'s generation"
        settings = from_texts(found.kind.Settings, texts_given, of)
        if arguments.data_dir is not None and issubclass(found.kind.Settings, ChatSettings):
            settings["data_dir"] = str(arguments.data_dir)
        generation = Generation(seed=arguments.seed, settings=settings)
        if arguments.dry_run:
            _dry_run(found.kind, test_set, generation)
            return
        name = folder_name(
            found.kind.called(found.card.name, found.kind.read_generation(generation))
        )
        path = _path(arguments.out, predictions_path(usual, test_set, name))
        with agreed(arguments.yes):
            texts = transfer(
                found,
                test_set,
                path,
                generation=generation,
                batch_size=arguments.batch_size,
                device=arguments.device,
                steps=list(filter(None, map(str.strip, arguments.postprocess.split(",")))),
            )
        warn([Outputs(name, texts)], test_set)
    say(f"wrote {len(test_set)} predictions to {path}")


def _dry_run(kind: type[System], test_set: TestSet, generation: Generation) -> None:
    from ..trainers.prompted import Chat, dry_run
    from ..trainers.system import Request, Task

    if not issubclass(kind, Chat):
        raise InputError(f"--dry-run: {kind.KIND} sends no requests; leave it out")
    task = Task(
        test_set.direction, generation.seed, kind.read_generation(generation), device="auto"
    )
    requests = [Request(*one) for one in zip(test_set.ids, test_set.sources, strict=True)]
    said = dry_run(requests, task)
    for line in said.lines:
        show_data(line)
    say(said.summary)


def _path(out: Path | None, usual: Path) -> Path:
    if out is None:
        return usual
    if out.is_dir():
        raise InputError(f"--out {out} is a folder; give a file, such as {out / usual.name}")
    if out.suffix != ".jsonl":
        raise InputError(f"--out {out}: predictions are JSON Lines; name the file {out.stem}.jsonl")
    return out


def _pairs(texts: list[str]) -> dict[str, str]:
    pairs = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            raise InputError(f"--generation {text}: write a setting as KEY=VALUE")
        pairs[name] = value
    return pairs
