"""The builder of ``cola``."""

from ..builder import TransferBuilder, transfer_configs
from .corpus import CORPUS


class Cola(TransferBuilder):
    """Sentences that linguists call acceptable or not, from publications on syntax."""

    CORPUS = CORPUS
    BUILDER_CONFIGS = transfer_configs(CORPUS)
    DEFAULT_CONFIG_NAME = "default"
