"""The builder of ``styptb_arr``."""

from ..builder import TransferBuilder, transfer_configs
from .corpus import CORPUS


class StyptbArr(TransferBuilder):
    """Penn Treebank sentences and the same without adjectives and adverbs, in pairs."""

    CORPUS = CORPUS
    BUILDER_CONFIGS = transfer_configs(CORPUS)
    DEFAULT_CONFIG_NAME = "default"
