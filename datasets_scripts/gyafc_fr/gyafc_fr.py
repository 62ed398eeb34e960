"""The builder of ``gyafc_fr``."""

from ..builder import TransferBuilder, transfer_configs
from .corpus import CORPUS


class GyafcFr(TransferBuilder):
    """Informal and formal answers on family and relationships; licensed, from the user's copy."""

    CORPUS = CORPUS
    BUILDER_CONFIGS = transfer_configs(CORPUS)
    DEFAULT_CONFIG_NAME = "default"
