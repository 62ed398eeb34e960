"""The builder of ``shakespeare``."""

from ..builder import TransferBuilder, transfer_configs
from .corpus import CORPUS


class Shakespeare(TransferBuilder):
    """Lines of the plays and their modern renderings, in pairs."""

    CORPUS = CORPUS
    BUILDER_CONFIGS = transfer_configs(CORPUS)
    DEFAULT_CONFIG_NAME = "default"
