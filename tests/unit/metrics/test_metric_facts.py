"""What is fixed about each metric: name in tables, unit, which way is better, what it reads.

A wrong line here turns a table around, so all of it is written out once more.
"""

from tstbench.metrics.registry import METRICS

TEXTS, WAY = ("sources",), ("direction",)
REFERENCES, JUDGED = ("references",), ("sources", "direction")
# Title, unit, which way is better, aspect, inputs besides the predictions.
FACTS = {
    "acc": ("ACC", "percent", "higher", "style", WAY),
    "s_bleu": ("s-BLEU", "percent", "higher", "content", TEXTS),
    "r_bleu": ("r-BLEU", "percent", "higher", "content", REFERENCES),
    "multi_bleu": ("multi-BLEU", "percent", "higher", "content", REFERENCES),
    "s_bert": ("s-BERT", "fraction", "higher", "content", TEXTS),
    "r_bert": ("r-BERT", "fraction", "higher", "content", REFERENCES),
    "multi_bert": ("multi-BERT", "fraction", "higher", "content", REFERENCES),
    "ppl": ("PPL", "perplexity", "lower", "fluency", WAY),
    "cola": ("CoLA", "percent", "higher", "fluency", ()),
    "joint": ("Joint", "fraction", "higher", "overall", ("direction", "references")),
    "joint_calibrated": ("Calibrated Joint", "fraction", "higher", "overall", JUDGED),
    "judge_style": ("Judge style", "fraction", "higher", "style", JUDGED),
    "judge_content": ("Judge content", "fraction", "higher", "content", JUDGED),
    "judge_fluency": ("Judge fluency", "fraction", "higher", "fluency", ()),
    "judge_unread": ("Judge unread", "percent", "lower", "other", JUDGED),
    "logprop": ("LogProp", "number", "higher", "content", JUDGED),
    "logprop_plain": ("LogProp plain", "number", "higher", "content", TEXTS),
    "sti": ("STI", "number", "higher", "style", JUDGED),
    "target_style": ("P(target)", "fraction", "higher", "style", WAY),
    "s_sim": ("s-sim", "fraction", "higher", "content", TEXTS),
    "r_sim": ("r-sim", "fraction", "higher", "content", REFERENCES),
    "multi_sim": ("multi-sim", "fraction", "higher", "content", REFERENCES),
    "s_chrf": ("s-chrF", "percent", "higher", "content", TEXTS),
    "r_chrf": ("r-chrF", "percent", "higher", "content", REFERENCES),
    "multi_chrf": ("multi-chrF", "percent", "higher", "content", REFERENCES),
    "length_ratio": ("length ratio", "number", "neither", "other", TEXTS),
    "copy_rate": ("copies", "percent", "lower", "other", TEXTS),
    "s_wmd": ("s-WMD", "number", "lower", "content", TEXTS),
    "r_wmd": ("r-WMD", "number", "lower", "content", REFERENCES),
    "s_meteor": ("s-METEOR", "fraction", "higher", "content", TEXTS),
    "r_meteor": ("r-METEOR", "fraction", "higher", "content", REFERENCES),
    "s_embedding_average": ("s-EmbAvg", "fraction", "higher", "content", TEXTS),
    "r_embedding_average": ("r-EmbAvg", "fraction", "higher", "content", REFERENCES),
    "s_greedy_matching": ("s-Greedy", "fraction", "higher", "content", TEXTS),
    "r_greedy_matching": ("r-Greedy", "fraction", "higher", "content", REFERENCES),
    "s_vector_extrema": ("s-Extrema", "fraction", "higher", "content", TEXTS),
    "r_vector_extrema": ("r-Extrema", "fraction", "higher", "content", REFERENCES),
    "s_sentence_bleu": ("s-sentBLEU", "fraction", "higher", "content", TEXTS),
    "r_sentence_bleu": ("r-sentBLEU", "fraction", "higher", "content", REFERENCES),
    "s_meaning": ("s-Meaning", "fraction", "higher", "content", TEXTS),
    "r_meaning": ("r-Meaning", "fraction", "higher", "content", REFERENCES),
    "multi_meaning": ("multi-Meaning", "fraction", "higher", "content", REFERENCES),
    "cps": ("CPS", "fraction", "higher", "content", TEXTS),
    "naturalness_unigram": ("Nat-unigram", "percent", "higher", "fluency", TEXTS),
    "naturalness_neural": ("Nat-neural", "percent", "higher", "fluency", TEXTS),
    "naturalness_lm": ("Nat-LM", "percent", "higher", "fluency", JUDGED),
    "fluency": ("Fluency", "fraction", "higher", "fluency", ()),
    "s_bleurt": ("s-BLEURT", "number", "higher", "content", TEXTS),
    "r_bleurt": ("r-BLEURT", "number", "higher", "content", REFERENCES),
    "multi_bleurt": ("multi-BLEURT", "number", "higher", "content", REFERENCES),
}


def test_every_metric_says_of_itself_what_it_always_said():
    assert list(FACTS) == list(METRICS)
    for name, facts in METRICS.items():
        found = (facts.title, facts.unit, facts.better, facts.aspect, facts.reads)
        assert (name, found) == (name, FACTS[name])
    cohorts = {name for name, facts in METRICS.items() if facts.compares_systems}
    assert cohorts == {"naturalness_unigram", "naturalness_neural"}  # they learn from all systems
    assert METRICS["length_ratio"].neutral


def test_more_is_better_but_for_these():
    """Perplexity and distances fall as texts improve; so do what is copied and what is not read."""
    lower = {name for name, facts in METRICS.items() if facts.better == "lower"}
    assert lower == {"ppl", "s_wmd", "r_wmd", "copy_rate", "judge_unread"}
    assert {name for name, facts in METRICS.items() if facts.arrow == "↓"} == lower
