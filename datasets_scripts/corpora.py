"""All datasets' raw files, by name. A new dataset is one folder and one line here."""

from __future__ import annotations

from ..errors import unknown_name
from .amazon.corpus import CORPUS as AMAZON
from .corpus import Corpus
from .gyafc_em.corpus import CORPUS as GYAFC_EM
from .gyafc_fr.corpus import CORPUS as GYAFC_FR
from .mini.corpus import CORPUS as MINI
from .shakespeare.corpus import CORPUS as SHAKESPEARE
from .styptb_arr.corpus import CORPUS as STYPTB_ARR
from .styptb_tfu.corpus import CORPUS as STYPTB_TFU
from .yelp.corpus import CORPUS as YELP

CORPORA: dict[str, Corpus] = {
    "mini": MINI,
    "yelp": YELP,
    "amazon": AMAZON,
    "gyafc_em": GYAFC_EM,
    "gyafc_fr": GYAFC_FR,
    "shakespeare": SHAKESPEARE,
    "styptb_tfu": STYPTB_TFU,
    "styptb_arr": STYPTB_ARR,
}


def parse_dataset(name: str) -> Corpus:
    """The corpus of that name; :class:`UnknownNameError` with near misses else."""
    if name not in CORPORA:
        raise unknown_name("dataset", name, CORPORA)
    return CORPORA[name]
