"""What the task files name. Written by tstbench.pipelines.harness.lm_eval_files."""

from tstbench.pipelines.harness.lm_eval_tasks import (
    AGGREGATIONS,
    documents,
    process_results,
    references,
)

__all__ = ["documents", "process_results", "references"]

acc = AGGREGATIONS["acc"]
s_bleu = AGGREGATIONS["s_bleu"]
r_bleu = AGGREGATIONS["r_bleu"]
multi_bleu = AGGREGATIONS["multi_bleu"]
s_bert = AGGREGATIONS["s_bert"]
r_bert = AGGREGATIONS["r_bert"]
multi_bert = AGGREGATIONS["multi_bert"]
ppl = AGGREGATIONS["ppl"]
cola = AGGREGATIONS["cola"]
joint = AGGREGATIONS["joint"]
