"""A base model with its adapter added in: an ordinary checkpoint of transformers.

A server such as vLLM serves it under a name; ``tstbench transfer --model`` then asks it like any
other. The layout that it was taught is its chat template.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ...errors import InputError
from ...files import atomic_folder, write_json, write_text
from ...metrics.scorers.portable import base_datasets
from ...metrics.scorers.weights import quiet_loading
from ..load import load_system
from .base import quiet
from .records import Template, prompt, prompt_rows
from .system import LlamaLora, LlamaLoraInst

CARD_FILE = "merged.json"
_SLOT = "\0"


def merge(folder: str, out: Path, *, base: str = "", revision: str | None = None) -> Path:
    """Write the base model of a system with its adapter added to the weights, in float32.

    Args:
        folder: of the system, or its Hub id.
        out: to write; an earlier merged model at its place is replaced.
        base: the base model's folder, if it is not found by itself.
        revision: for a Hub id.

    Raises:
        InputError: the system has no adapter, or ``out`` contains something else.
        MissingSystemError, MissingFileError, IntegrityError: as for loading it.
    """
    system = load_system(folder, revision=revision, device="cpu")
    if not isinstance(system, LlamaLora | LlamaLoraInst):
        raise InputError(
            f"{system.card.name} is a {system.card.kind}, which has no adapter to merge"
        )
    with atomic_folder(out, ours=lambda path: (path / CARD_FILE).is_file()) as scratch, quiet():
        model, tokenizer = system.merged(base)
        tokenizer.chat_template = chat_template(tokenizer, system.config.template)
        with quiet_loading():
            model.save_pretrained(scratch)
        tokenizer.save_pretrained(scratch)
        card: dict[str, Any] = {
            "system": system.card.name,
            "recipe": system.card.recipe,
            "directions": list(system.card.directions),
            "datasets": base_datasets(system.card.settings),
            "base": system.base_model(base).identity.name,
        }
        write_json(scratch / CARD_FILE, card)
        write_text(scratch / "README.md", _readme(card))
    return out


def chat_template(tokenizer: Any, template: Template) -> str:
    """A message as an instruction without input, in the layout of training."""
    before, after = prompt(_SLOT, "", template).split(_SLOT)
    starts = prompt_rows(tokenizer, ["a"])[0][0] == tokenizer.bos_token_id
    return (
        f"{'{{ bos_token }}' if starts else ''}"
        "{% for message in messages %}{% if message['role'] == 'user' %}"
        f"{before}{{{{ message['content'] }}}}{after}"
        "{% elif message['role'] == 'assistant' %}{{ message['content'] }}{{ eos_token }}\n"
        "{% endif %}{% endfor %}"
    )


def _readme(card: dict[str, Any]) -> str:
    return (
        f"# {card['system']}, merged\n\n"
        f"The language model {card['base']} with the adapter of {card['system']} "
        f"({', '.join(card['directions']) or 'any direction'}) added to its weights.\n\n"
        "```python\nfrom transformers import AutoModelForCausalLM, AutoTokenizer\n\n"
        'model = AutoModelForCausalLM.from_pretrained("<this folder>")\n```\n\n'
        "Its terms are those of the base model and of the data that the adapter learned from.\n"
    )
