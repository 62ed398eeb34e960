"""The weights of a low-rank adapter, as PEFT's files have them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...errors import InputError
from ...files import write_bytes, write_json
from ...untrusted import read_json
from .base import Identity, quiet

# What of PEFT's settings is a regular expression, or says which layers in another way.
_PATTERNS = (
    "rank_pattern", "alpha_pattern", "exclude_modules", "layers_pattern", "layers_to_transform",
    "layer_replication", "modules_to_save", "target_parameters", "trainable_token_indices",
)  # fmt: skip


@dataclass(frozen=True)
class Adapter:
    """What was learned: weights, and which layers they belong to.

    Attributes:
        config: ``LoraConfig`` of PEFT.
        weights: by name, on the CPU.
    """

    config: Any
    weights: Mapping[str, Any]

    @classmethod
    def read(cls, folder: Path) -> Adapter:
        """Read a folder that :meth:`write`, or PEFT, wrote.

        Raises:
            InputError: it is no LoRA adapter, or damaged.
        """
        from peft import LoraConfig
        from safetensors.torch import load_file

        file = folder / "adapter_config.json"
        settings = read_json(file)
        settings = settings if isinstance(settings, dict) else {}
        chosen = [name for name in _PATTERNS if settings.get(name)]
        if chosen or not isinstance(settings.get("target_modules"), list):
            raise InputError(
                f"{file}: adapters here name their layers in target_modules, one by one; "
                f"{chosen[0] if chosen else 'a pattern'} is not read"
            )
        try:
            config = LoraConfig.from_pretrained(str(folder))
            if not isinstance(config, LoraConfig):
                raise TypeError(f"its kind is {type(config).__name__}")
            weights = load_file(folder / "adapter_model.safetensors")
            if config.r not in {len(part) for part in weights.values()}:
                raise ValueError(f"r is {config.r}, but its weights have another rank")
            return cls(config, weights)
        except Exception as error:  # PEFT's and safetensors' own, of many kinds
            raise InputError(f"{folder} is not a LoRA adapter, or damaged: {error}") from error

    def write(self, folder: Path, base: Identity) -> None:
        """Write the files of PEFT; the base is named by its Hub id, never by a path."""
        from safetensors.torch import save

        folder.mkdir(parents=True)
        self.config.base_model_name_or_path = base.name
        self.config.revision = base.revision or None
        self.config.inference_mode = True
        self.config.save_pretrained(str(folder))
        file = folder / "adapter_config.json"
        content = json.loads(file.read_bytes())
        if isinstance(content["target_modules"], list):  # a set in PEFT, in an order of its own
            content["target_modules"].sort()
        write_json(file, content)
        content = save(dict(self.weights), {"format": "pt"})
        write_bytes(folder / "adapter_model.safetensors", content)

    def on(self, model: Any) -> Any:
        """The model with the adapter, as PEFT's model.

        Raises:
            InputError: it has not the layers that the adapter belongs to.
        """
        from peft import get_peft_model, set_peft_model_state_dict

        try:
            with quiet():
                adapted = get_peft_model(model, deepcopy(self.config))
                found: Any = set_peft_model_state_dict(adapted, dict(self.weights))
        except Exception as error:  # PEFT's own, of many kinds
            raise InputError(f"the adapter does not fit the base model: {error}") from error
        lacking = [name for name in found.missing_keys if "lora_" in name]
        if found.unexpected_keys or lacking:
            raise InputError(
                "the adapter does not fit the base model: "
                f"{', '.join([*found.unexpected_keys, *lacking][:3])}"
            )
        return adapted.eval()
