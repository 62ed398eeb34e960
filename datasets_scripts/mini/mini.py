"""The builder of ``mini``."""

from ..builder import TransferBuilder, transfer_configs
from .corpus import CORPUS


class Mini(TransferBuilder):
    """Our own short reviews, negative and positive, with four test references."""

    CORPUS = CORPUS
    BUILDER_CONFIGS = transfer_configs(CORPUS)
    DEFAULT_CONFIG_NAME = "default"
