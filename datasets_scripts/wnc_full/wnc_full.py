"""The builder of ``wnc_full``."""

from ..builder import TransferBuilder, transfer_configs
from .corpus import CORPUS


class WncFull(TransferBuilder):
    """Sentences of Wikipedia and their neutral edits, of one word or several."""

    CORPUS = CORPUS
    BUILDER_CONFIGS = transfer_configs(CORPUS)
    DEFAULT_CONFIG_NAME = "default"
