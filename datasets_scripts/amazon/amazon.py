"""The builder of ``amazon``."""

from ..builder import TransferBuilder, transfer_configs
from .corpus import CORPUS


class Amazon(TransferBuilder):
    """Product reviews, negative and positive, with one human rewrite of each test sentence."""

    CORPUS = CORPUS
    BUILDER_CONFIGS = transfer_configs(CORPUS)
    DEFAULT_CONFIG_NAME = "default"
