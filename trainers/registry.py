"""All systems, by name. A new one is one file and one line here, or an entry point of a package.

A package registers its own system in its ``pyproject.toml``::

    [project.entry-points."tstbench.systems"]
    politeness = "my_package.politeness:Politeness"
"""

from __future__ import annotations

from importlib import import_module
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
    "tsst": "tstbench.trainers.tsst.system:Tsst",
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
