"""The builder of ``styptb_tfu``."""

from ..builder import TransferBuilder, transfer_configs
from .corpus import CORPUS


class StyptbTfu(TransferBuilder):
    """Penn Treebank sentences and the same in future tense, in pairs."""

    CORPUS = CORPUS
    BUILDER_CONFIGS = transfer_configs(CORPUS)
    DEFAULT_CONFIG_NAME = "default"
