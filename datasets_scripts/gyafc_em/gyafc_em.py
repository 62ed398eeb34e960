"""The builder of ``gyafc_em``."""

from ..builder import TransferBuilder, transfer_configs
from .corpus import CORPUS


class GyafcEm(TransferBuilder):
    """Informal and formal answers on entertainment and music; licensed, from the user's copy."""

    CORPUS = CORPUS
    BUILDER_CONFIGS = transfer_configs(CORPUS)
    DEFAULT_CONFIG_NAME = "default"
