"""The meaning metric: its arithmetic and its scorer."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import BertConfig, BertModel

from tstbench.chat.settings import Handling
from tstbench.errors import InputError, IntegrityError
from tstbench.metrics.meaning.meaning import FAMILY, MeaningOptions, combined
from tstbench.metrics.scorers import find
from tstbench.metrics.scorers.artefacts import open_artefact
from tstbench.metrics.scorers.device import HERE, Placement
from tstbench.metrics.scorers.find import SHIPPED, meaning
from tstbench.metrics.scorers.meaning import MeaningModel
from tstbench.metrics.scorers.meaning_network import MeaningNetwork, alikeness

SENTENCES = tuple(
    f"the {animal} {verb} the {other} in the {place} ."
    for animal, other in (("dog", "cat"), ("king", "sailor"))
    for verb in ("sees", "paints", "follows", "hears", "helps")
    for place in ("garden", "old market", "forest behind the village")
)


@pytest.fixture(scope="module")
def shipped():
    return meaning(SHIPPED, None, HERE).load()


class Table:
    """A scorer with known answers."""

    def kept(self, sources, outputs):
        values = {"same": (1.0, 1.0), "half": (0.5, 0.9), "none": (0.0, -0.5)}
        return np.array([values[text] for text in sources]).reshape(-1, 2)


def test_the_score_is_the_mean_of_both_parts():
    """By hand: (0.5 + 0.9) / 2; a cosine below 0 counts as 0, one above 1 as 1."""
    scores = np.array([[1.0, 1.0], [0.5, 0.9], [0.2, -0.5], [0, 1.25]])
    np.testing.assert_allclose(combined(scores), [1.0, 0.7, 0.1, 0.5])
    np.testing.assert_allclose(combined(scores, "kept"), [1.0, 0.5, 0.2, 0])
    np.testing.assert_allclose(combined(scores, "cosine"), [1.0, 0.9, 0.0, 1])
    for kind in (np.float32, np.int8):
        for part in ("mean", "kept", "cosine"):
            assert combined(scores.astype(kind), part).dtype == np.float64


def meaning_kept(predictions, against, scorer, **options):
    return FAMILY.compared(predictions, against, MeaningOptions(**options), scorer)


def test_each_prediction_has_its_own_references():
    """By hand, of two, one, none, three and one."""
    against = [["none", "half"], ["same"], [], ["half", "none", "half"], ["none"]]
    best = meaning_kept(list("abcde"), against, Table())
    np.testing.assert_allclose(best, [0.7, 1, np.nan, 0.7, 0])
    mean = meaning_kept(list("abcde"), against, Table(), combine="kept", reduce="mean")
    np.testing.assert_allclose(mean, [0.25, 1, np.nan, 1 / 3, 0])


def test_sentence_cosines_are_those_of_the_encoder(shipped):
    """The second column is what sentence-transformers would give: mean pooling, unit length."""
    one, two = "the prices of houses rise.", "wow! house prices climb!"
    vectors = shipped.encoder.sentence_vectors([one, two]).astype(np.float64)
    assert shipped.kept([one], [two])[0, 1] == pytest.approx(vectors[0] @ vectors[1], abs=1e-6)


def test_a_hidden_change_costs_more_than_another_style(shipped):
    source = "the prices of houses rise in the city."
    outputs = [
        source,
        "wow! the prices of homes climb in the city!",
        "wow! the prices of homes fall in the city!",
        "the waiter brought us cold soup.",
    ]
    kept = shipped.kept([source] * 4, outputs)[:, 0]
    assert (np.diff(kept) < 0).all()
    assert kept[0] > 0.7
    assert kept[3] < 0.1


def test_no_score_depends_on_its_batch(shipped):
    sources = list(SENTENCES[:20])
    outputs = [SENTENCES[-1 - i] for i in range(20)]
    together = shipped.kept(sources, outputs)
    alone = MeaningModel(shipped.network, shipped.reader, shipped.encoder)
    for i in (0, 7, 19):
        np.testing.assert_allclose(
            alone.kept(sources[i : i + 1], outputs[i : i + 1])[0], together[i], atol=1e-5
        )


def test_empty_outputs_keep_nothing_and_lengths_are_checked(shipped):
    assert shipped.kept(["a sentence."], [" "]).tolist() == [[0.0, 0.0]]
    assert shipped.kept([], []).shape == (0, 2)
    with pytest.raises(InputError, match="not aligned"):
        shipped.kept(["a"], [])


def tiny_network():
    """A network over a random BERT of two layers, with what is added already learned."""
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=50, hidden_size=16, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=32,
    )  # fmt: skip
    network = MeaningNetwork(BertModel(config), rank=2, hidden=8).eval()
    for added in network.added:
        torch.nn.init.normal_(added.up)
    return network


def tiny_batch(length):
    ids = torch.randint(1, 50, (2, 9))
    sides = (torch.arange(9) > 4).long().expand(2, 9)
    real = torch.ones(2, 9, dtype=torch.bool)
    real[1, length:] = False
    return ids, sides, real, torch.rand(2, 9, 3)


def test_without_what_is_added_the_encoder_is_the_published_bert():
    """With zero marks, the states are those of transformers' BERT for the same ids."""
    network = tiny_network()
    for parameter in (*network.added.parameters(), network.side.weight, network.alike.weight):
        torch.nn.init.zeros_(parameter)
    ids, sides, real, alike = tiny_batch(7)
    expected = network.encoder(ids, attention_mask=real.long()).last_hidden_state
    wanted = network._head(expected, sides, real)[0]
    torch.testing.assert_close(network(ids, sides, real, alike)[0], wanted, atol=1e-5, rtol=1e-5)


def test_merging_changes_no_score():
    network, batch = tiny_network(), tiny_batch(9)
    before = network(*batch)[0]
    plain = MeaningNetwork(network.encoder, rank=2, hidden=8).eval()
    assert not torch.allclose(plain(*batch)[0], before)
    network.merge()
    network.merge()  # a second time adds nothing
    torch.testing.assert_close(network(*batch)[0], before, atol=1e-4, rtol=1e-4)


def test_each_token_is_told_its_most_similar_one():
    """By hand: words 0 and 1 are at a right angle, 2 is between them."""
    words = torch.tensor([[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]])
    found = alikeness(words, [0, 2], [1, 2])
    expected = [[0, 0, 0], [0, 0.6, 1], [1, 1, 1], [0, 0, 0], [0, 0.8, 1], [1, 1, 1], [0, 0, 0]]
    torch.testing.assert_close(found, torch.tensor(expected))
    assert alikeness(words, [], [1]).tolist() == [[0, 0, 0]] * 4


def test_the_probability_is_that_of_the_mean_logit_of_both_orders(shipped):
    pairs = [("prices rise.", "wow! the prices are up!"), ("he left.", "nobody came, he said.")]
    by_hand = []
    for first, second in pairs:
        a, b = shipped.reader.ids([first, second])
        with torch.inference_mode():
            there, back = (
                shipped.network(*shipped.reader.batch([pair]))[0].item()
                for pair in ((a, b), (b, a))
            )
        assert there != pytest.approx(back, abs=1e-3)
        by_hand.append(1 / (1 + np.exp(-(there + back) / 2)))
    found = shipped.kept(*zip(*pairs, strict=True))[:, 0]
    np.testing.assert_allclose(found, by_hand, atol=1e-5)


def test_two_sentences_are_written_as_one_input(shipped):
    """[CLS] first [SEP] second [SEP]: the second begins behind its separator, then padding."""
    reader = shipped.reader
    start, stop = reader.tokenizer.cls_token_id, reader.tokenizer.sep_token_id
    a, b, c = reader.tokenizer.convert_tokens_to_ids(["soup", "cold", "warm"])
    ids, sides, real, alike = reader.batch([([a, b], [c, a, b]), ([a], [c])])
    assert ids[0].tolist() == [start, a, b, stop, c, a, b, stop]
    assert ids[1, :5].tolist() == [start, a, stop, c, stop]
    assert sides[0].tolist() == [0, 0, 0, 0, 1, 1, 1, 1]
    assert sides[1, :5].tolist() == [0, 0, 0, 1, 1]
    assert real.tolist() == [[True] * 8, [True] * 5 + [False] * 3]
    assert alike[0, :, 0].tolist() == [0, 1, 1, 0, 0, 1, 1, 0]  # the other has the same token
    assert alike[0, :, 2].tolist() == [0, 1, 1, 0, 1, 1, 1, 0]
    assert 0 < alike[1, 1, 1] < 1


def test_long_texts_are_read_up_to_the_limit(shipped):
    scores = shipped.kept(["word " * 2_000], ["word " * 2_000])
    assert np.isfinite(scores).all()


def test_the_shipped_scorer_is_small_and_intact():
    found = meaning(SHIPPED, None, HERE)
    folder = Path(find.__file__).with_name("meaning_v1")
    assert open_artefact(folder).hash == found.hash
    assert sum(file.stat().st_size for file in folder.iterdir()) < 2_000_000


def test_limits_for_a_chat_server_load_no_scorer_twice(shipped):
    limited = Placement(asking=Handling(max_requests=1))
    assert meaning(SHIPPED, None, limited).load() is shipped


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("encoder", {"hash": "0" * 64}, "train the scorer again"),
        *(("rank", rank, "not a meaning scorer") for rank in (0, 10**9, "many", None)),
        ("rank", 3, "does not fit"),
    ],
)
def test_a_scorer_of_other_sizes_or_another_encoder_is_refused(
    shipped, tmp_path, name, value, message
):
    shipped.save(tmp_path)
    settings = json.loads((tmp_path / "model.json").read_text())
    settings[name] = {**settings[name], **value} if isinstance(value, dict) else value
    (tmp_path / "model.json").write_text(json.dumps(settings))
    with pytest.raises(IntegrityError, match=message):
        MeaningModel.load(tmp_path)
