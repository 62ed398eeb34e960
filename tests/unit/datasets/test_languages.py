"""What a language asks of a text: its cleaning, its BLEU tokeniser, and what a wrong code gets."""

import pytest
from sacrebleu.metrics.bleu import BLEU

from tstbench.datasets_scripts.cleaning import CLEANINGS
from tstbench.datasets_scripts.languages import language
from tstbench.errors import MissingExtraError


@pytest.mark.parametrize(
    ("code", "cleaning", "tokenizer"),
    [
        ("en", "paper-v1", "13a"),
        ("en-GB", "paper-v1", "13a"),
        ("EN", "paper-v1", "13a"),
        ("de", "plain-v1", "13a"),
        ("tlh", "plain-v1", "13a"),
        ("ko", "plain-v1", "ko-mecab"),
        ("ja", "unspaced-v1", "ja-mecab"),
        ("zh", "unspaced-v1", "zh"),
        ("zh-Hant-TW", "unspaced-v1", "zh"),
        *((code, "unspaced-v1", "zh") for code in ("cmn", "yue", "wuu", "nan", "hak")),
        *((code, "unspaced-v1", "char") for code in ("th", "lo", "km", "my", "bo", "dz")),
    ],
)
def test_what_a_language_gets(code, cleaning, tokenizer):
    found = language(code)
    assert (found.code, found.cleaning, found.sacrebleu) == (code, cleaning, tokenizer)
    assert found.cleaning in CLEANINGS
    assert found.sacrebleu in BLEU.TOKENIZERS


def test_turkish_is_not_lower_cased():
    assert "I".lower() == "i"  # in Turkish it would be a dotless one
    assert not language("tr").lowercases
    assert not language("az-Latn-AZ").lowercases
    assert all(language(code).lowercases for code in ("de", "en", "ko", "ja", "zh", "th"))


def test_a_missing_analyser_is_told_with_its_extra(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "MeCab", None)
    with pytest.raises(MissingExtraError, match=r"tstbench\[ja\]"):
        language("ja").require_tokenizer()
    assert language("zh").require_tokenizer() == "zh"
