"""The builder of ``wnc``."""

from ..builder import TransferBuilder, transfer_configs
from .corpus import CORPUS


class Wnc(TransferBuilder):
    """Sentences of Wikipedia that editors found subjective, with their neutral edits."""

    CORPUS = CORPUS
    BUILDER_CONFIGS = transfer_configs(CORPUS)
    DEFAULT_CONFIG_NAME = "default"
