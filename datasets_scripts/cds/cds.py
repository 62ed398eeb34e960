"""The builder of ``cds``."""

from ..builder import TransferBuilder, transfer_configs
from .corpus import CORPUS


class Cds(TransferBuilder):
    """Eleven styles of English, 1,000 sentences each: samples of the Corpus of Diverse Styles."""

    CORPUS = CORPUS
    BUILDER_CONFIGS = transfer_configs(CORPUS)
    DEFAULT_CONFIG_NAME = "default"
