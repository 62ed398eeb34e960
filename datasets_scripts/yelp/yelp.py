"""The builder of ``yelp``."""

from ..builder import TransferBuilder, transfer_configs
from .corpus import CORPUS


class Yelp(TransferBuilder):
    """Restaurant and business reviews, negative and positive, with four test references."""

    CORPUS = CORPUS
    BUILDER_CONFIGS = transfer_configs(CORPUS)
    DEFAULT_CONFIG_NAME = "default"
