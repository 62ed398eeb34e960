"""LLM judge: what a chat model thinks of style, content and fluency, asked in many wordings."""

import os

import tstbench.metrics.module

_DESCRIPTION = """
A chat model behind an OpenAI-compatible server is asked about each rewrite's style, content and fluency,
in eleven wordings each. Answers are parsed strictly, normalised to 0 to 1 and averaged.
"""

_ARGUMENTS = """
    judge (str): "MODEL@URL"; without the address at OPENAI_BASE_URL, else at OpenAI;
        "completions:MODEL@URL" for a completion model, "local:MODEL" for one of transformers on this
        machine. By default the environment variable TSTBENCH_JUDGE. The key is read from the variable OPENAI_API_KEY.
    wordings (int): how many of the eleven are asked.
    explain (bool): whether an explanation is asked for before the score.
    expected (bool): whether a score is the expectation over the probabilities of tokens.
    temperature (float): of the sampling.
    max_tokens (int): longest answer; by default 16, or 300 with an explanation.
    omit (str): parameters that the server does not take, separated by commas.
    extra (str): more parameters, as a JSON object.
    style_prompts (str): wordings for judge_style: "style-v1", or a .toml file of your own.
    content_prompts (str): likewise for judge_content.
    fluency_prompts (str): likewise for judge_fluency.
Returns:
    judge_style, judge_content, judge_fluency (float): 0 to 1, higher is better; judge_unread (float):
        percent of the answers that are no score; details: interval, signature.
Examples:
    >>> judge = evaluate.load("tstbench/llm_judge")  # doctest: +SKIP
    >>> judge.compute(
    ...     predictions=["the soup was lovely."],
    ...     sources=["the soup was awful."],
    ...     direction="mini/negative-to-positive",
    ...     judge="my-model@http://127.0.0.1:8000/v1",
    ... )  # doctest: +SKIP
"""

_CITATION = """\
@article{ostheimer2023text,
  title = {Text Style Transfer Evaluation Using Large Language Models},
  author = {Ostheimer, Phil and Nagda, Mayank and Kloft, Marius and Fellenz, Sophie},
  journal = {arXiv preprint arXiv:2308.13577},
  year = {2023}
}
"""


class LlmJudge(tstbench.metrics.module.StyleTransferMetric):
    """Mean judgements of a chat model."""

    family = "llm_judge"
    description = _DESCRIPTION
    arguments = _ARGUMENTS
    citation_text = _CITATION

    def _compute(self, *, predictions, sources, judge=None, **options):
        judge = judge or os.environ.get("TSTBENCH_JUDGE")
        scorers = [f"judge={judge}"] if judge else []
        return self.measured(["llm_judge"], predictions, sources, scorers=scorers, **options)
