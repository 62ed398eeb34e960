"""All systems, by name. A new one is one file and one line here, or an entry point of a package.

A package registers its own system in its ``pyproject.toml``::

    [project.entry-points."tstbench.systems"]
    politeness = "my_package.politeness:Politeness"
"""

from __future__ import annotations

import ast
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import cast

from ..errors import InputError, MissingExtraError, unknown_name
from ..plugins import outside
from .system import System

# Imported when used: copy does not need scikit-learn.
SYSTEMS: dict[str, str] = {
    "copy": "tstbench.trainers.baselines:Copy",
    "random-target": "tstbench.trainers.baselines:RandomTarget",
    "delete-retrieve": "tstbench.trainers.delete_retrieve:DeleteRetrieve",
    "stytrans": "tstbench.trainers.stytrans:StyTrans",
    "dar": "tstbench.trainers.dar:Dar",
    "ctat": "tstbench.trainers.ctat:Ctat",
    "nast": "tstbench.trainers.nast:Nast",
    "tsst": "tstbench.trainers.tsst:Tsst",
    "bsrr": "tstbench.trainers.bsrr:Bsrr",
    "tyb": "tstbench.trainers.tyb:Tyb",
    "caae": "tstbench.trainers.caae:Caae",
    "arae": "tstbench.trainers.arae:Arae",
    "strap": "tstbench.trainers.strap:Strap",
    "chatgpt": "tstbench.trainers.prompted:ChatGpt",
    "chatgpt-fs": "tstbench.trainers.prompted:ChatGptFewShot",
    "gpt4": "tstbench.trainers.prompted:Gpt4",
    "gpt4-fs": "tstbench.trainers.prompted:Gpt4FewShot",
    "chat": "tstbench.trainers.prompted:Chat",
    "llama-lora": "tstbench.trainers.lora.system:LlamaLora",
    "llama-lora-inst": "tstbench.trainers.lora.system:LlamaLoraInst",
}

_UNTRAINED = ("copy", "chatgpt", "chatgpt-fs", "gpt4", "gpt4-fs", "chat")


def trainable() -> dict[str, str]:
    """Systems that are trained, and what they are: read from the sources, since imports take long.

    So they are listed without the libraries that some of them need.
    """
    ours = {name: _described(*SYSTEMS[name].split(":")) for name in SYSTEMS.keys() - _UNTRAINED}
    others = {name: system_class(name) for name in system_names() if name not in SYSTEMS}
    found = {n: str(one.__doc__ or "") for n, one in others.items() if one.Config} | ours
    return {name: found[name].partition("\n")[0] for name in system_names() if name in found}


def _described(module: str, kind: str) -> str:
    spec = find_spec(module)
    tree = ast.parse(Path(spec.origin).read_text("utf-8") if spec and spec.origin else "")
    (node,) = (n for n in tree.body if isinstance(n, ast.ClassDef) and n.name == kind)
    return ast.get_docstring(node) or ""


def system_names() -> list[str]:
    """The names of all systems, ours first."""
    return list(dict.fromkeys((*SYSTEMS, *outside("tstbench.systems"))))


def system_class(name: str) -> type[System]:
    """The class with that name.

    Raises:
        UnknownNameError: no such system.
        MissingExtraError: a library that it is built on is not installed.
        InputError: what another package registers under that name is not a system.
    """
    if name in SYSTEMS:
        module, attribute = SYSTEMS[name].split(":")
        try:
            return cast(type[System], getattr(import_module(module), attribute))
        except ModuleNotFoundError as error:
            if str(error.name).startswith("tstbench"):
                raise
            raise MissingExtraError(
                f"{name} needs {error.name}, which is not installed: pip install 'tstbench[train]'"
            ) from error
    found = outside("tstbench.systems")
    if name not in found:
        raise unknown_name("system", name, system_names())
    if not (isinstance(found[name], type) and issubclass(found[name], System)):
        raise InputError(f"entry point {name!r} of tstbench.systems is not a subclass of System")
    return cast(type[System], found[name])
