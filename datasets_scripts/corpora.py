"""All datasets' raw files, by name. A new dataset is one folder and one line here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..errors import unknown_name
from .added import added
from .amazon.corpus import CORPUS as AMAZON
from .cds.corpus import CORPUS as CDS
from .cola.corpus import CORPUS as COLA
from .corpus import Corpus
from .gyafc_em.corpus import CORPUS as GYAFC_EM
from .gyafc_fr.corpus import CORPUS as GYAFC_FR
from .mini.corpus import CORPUS as MINI
from .shakespeare.corpus import CORPUS as SHAKESPEARE
from .styptb_arr.corpus import CORPUS as STYPTB_ARR
from .styptb_tfu.corpus import CORPUS as STYPTB_TFU
from .wnc.corpus import CORPUS as WNC
from .wnc_full.corpus import CORPUS as WNC_FULL
from .yelp.corpus import CORPUS as YELP

_OURS: dict[str, Corpus] = {
    corpus.name: corpus
    for corpus in (
        *(MINI, YELP, AMAZON, GYAFC_EM, GYAFC_FR),
        *(SHAKESPEARE, STYPTB_TFU, STYPTB_ARR),
        *(WNC, WNC_FULL, CDS, COLA),
    )
}


class _Corpora(Mapping[str, Corpus]):
    """Our corpora, then those of other packages and the user: a live view."""

    def __getitem__(self, name: str) -> Corpus:
        return _OURS[name] if name in _OURS else added()[name]

    def __iter__(self) -> Iterator[str]:
        return iter({**_OURS, **added()})

    def __len__(self) -> int:
        return len(list(iter(self)))


CORPORA: Mapping[str, Corpus] = _Corpora()


def parse_dataset(name: str) -> Corpus:
    """The corpus with that name; raises :class:`UnknownNameError` with near misses."""
    if name not in CORPORA:
        raise unknown_name("dataset", name, CORPORA)
    return CORPORA[name]
