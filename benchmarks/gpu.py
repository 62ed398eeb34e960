"""Scoring, a QLoRA step and decoding on one GPU, against what libraries do there, as ratios.

    bash benchmarks/gpu.sh              # or: python benchmarks/gpu.py --out gpu.json

Models have the shapes of the published ones (RoBERTa-large, RoBERTa-base, LLaMA-7B) and random
weights, since speed depends on shapes alone: nothing is downloaded. All sides read the same texts
(job.py) with the same weights on the same device.

- scoring: BERTScore by the bert-score package, at its own batch size and at larger ones, against
  ours in float32 and bfloat16; style probabilities by transformers' text-classification pipeline,
  likewise.
- qlora: training tokens a second and peak memory of LLaMA-LoRA on 4-bit weights, and of TRL's
  SFTTrainer with PEFT as its manual shows, in random order and with its own length groups.
- decoding: rewrites a second of the adapter that was trained, and of transformers' generation
  pipeline with the same model, settings and batch size.

These two are done twice, in turns: the first time, libraries prepare themselves for each new shape
of a batch. Both times are told.

Shares of the peak are floating-point operations of the forward passes over distinct texts (of the
QLoRA step: forward, and backward to the activations; what is computed again is not counted), by
what a large matrix product reaches here. Exit code 1 if a value differs.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import plain_sft
import torch
import transformers
from job import Job, edited, load_job
from transformers.trainer_callback import TrainerCallback

from tstbench.datasets_scripts.catalog import parse_direction
from tstbench.datasets_scripts.load import TrainingData, TrainingPart
from tstbench.files import write_json
from tstbench.metrics.bertscore.bertscore import bertscore
from tstbench.metrics.scorers.device import Placement
from tstbench.metrics.scorers.encoder import TransformerEncoder
from tstbench.metrics.scorers.transformer import TransformerModel
from tstbench.trainers.lora.config import LlamaLoraConfig
from tstbench.trainers.lora.records import prompt
from tstbench.trainers.lora.system import LlamaLora
from tstbench.trainers.prompting.prompts import instruction
from tstbench.trainers.system import Generation
from tstbench.trainers.training.backbones import byte_level_tokenizer
from tstbench.trainers.training.run import Run

DIRECTION = parse_direction("mini/negative-to-positive")
STYLES = (DIRECTION.source_style, DIRECTION.target_style)
TOLERANCE = 2e-4  # of F1 and probabilities in float32: other kernels, other sums


@dataclass(frozen=True)
class Shape:
    """Of a transformer: layers, width, width between, heads."""

    layers: int
    width: int
    between: int
    heads: int

    @property
    def weights(self) -> int:
        """Of an encoder's matrices, without embeddings."""
        return self.layers * (4 * self.width**2 + 2 * self.width * self.between)


@dataclass(frozen=True)
class Sizes:
    """How much work it is.

    Attributes:
        large: of BERTScore's encoder.
        read: which of its layers is read.
        base: of the classifier.
        llama: of the language model.
        words: of its vocabulary.
        texts: predictions to score.
        pairs: to train with, which is one row each.
        batch: rows a step.
        warm: steps before time is taken.
        sentences: to rewrite.
        tokens: of a rewrite.
        batches: of the packages.
        product: rows of the matrices whose product gives the peak.
    """

    large: Shape = Shape(24, 1024, 4096, 16)
    read: int = 17
    base: Shape = Shape(12, 768, 3072, 12)
    llama: Shape = Shape(32, 4096, 11008, 32)
    words: int = 32_000
    texts: int = 20_000
    pairs: int = 640
    batch: int = 32
    warm: int = 4
    sentences: int = 128
    tokens: int = 32
    batches: tuple[int, ...] = (64, 256, 1024)
    product: int = 8192


TINY = Sizes(
    Shape(3, 64, 128, 4), 2, Shape(2, 64, 128, 4), Shape(2, 64, 128, 4), 600,
    texts=60, pairs=12, batch=4, warm=1, sentences=6, tokens=4, batches=(8, 32), product=256,
)  # fmt: skip


class Bench:
    """What all parts need.

    Args:
        device: ``cuda`` or ``cpu``.
        sizes: how much work.
        job: gives the texts.
        folder: for models.
    """

    def __init__(self, device: str, sizes: Sizes, job: Job, folder: Path) -> None:
        import random

        self.device, self.sizes, self.folder = device, sizes, folder
        rng = random.Random(0)
        sources = list(job.test_set.sources)
        words = sorted({word for source in sources for word in source.split()})
        self.sources = [edited(rng.choice(sources), words, rng) for _ in range(sizes.texts)]
        self.predictions = [edited(source, words, rng) for source in self.sources]
        self.peak = {name: self._peak(getattr(torch, name)) for name in ("float32", "bfloat16")}
        self.differs: list[str] = []

    def wait(self) -> None:
        """Until the device has done all."""
        if self.device == "cuda":
            torch.cuda.synchronize()

    def timed(self, work: Callable[[], Any], repeats: int = 2) -> tuple[float, Any]:
        """The best time of some, in seconds, and what came of it."""
        best, found = float("inf"), None
        for _ in range(repeats):
            self.wait()
            start = time.perf_counter()
            found = work()
            self.wait()
            best = min(best, time.perf_counter() - start)
        return best, found

    def memory(self) -> float:
        """The most GiB that was held since the last call; 0 on a CPU."""
        if self.device != "cuda":
            return 0.0
        most = torch.cuda.max_memory_allocated() / 2**30
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
        return round(most, 2)

    def _peak(self, dtype: torch.dtype) -> float:
        """Floating-point operations a second of a large matrix product."""
        n = self.sizes.product
        a, b = (torch.randn(n, n, device=self.device, dtype=dtype) for _ in range(2))
        torch.mm(a, b)
        best, _ = self.timed(lambda: torch.mm(a, b), repeats=5)
        return 2 * n**3 / best

    def compare(self, what: str, ours: np.ndarray, theirs: np.ndarray) -> float:
        """The largest difference; one above the tolerance ends the run with code 1."""
        largest = float(np.abs(ours - theirs).max())
        if not largest <= TOLERANCE:
            self.differs.append(f"{what}: values differ by {largest:.1e}")
        return largest


def roberta(bench: Bench, shape: Shape, name: str, *, classifies: bool) -> Path:
    """Write a random RoBERTa with a tokenizer of the texts."""
    folder = bench.folder / name
    tokenizer = byte_level_tokenizer(bench.sources, "bart", bench.sizes.words, 512)
    config = transformers.RobertaConfig(
        vocab_size=len(tokenizer),
        hidden_size=shape.width,
        num_hidden_layers=shape.layers,
        num_attention_heads=shape.heads,
        intermediate_size=shape.between,
        max_position_embeddings=514,
        type_vocab_size=1,
        bos_token_id=tokenizer.bos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        eos_token_id=tokenizer.eos_token_id,
        id2label=dict(enumerate(STYLES)),
    )
    torch.manual_seed(0)
    kind = (
        transformers.RobertaForSequenceClassification if classifies else transformers.RobertaModel
    )
    kind(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def n_tokens(folder: Path, texts: Sequence[str]) -> int:
    """Of the distinct texts, with what frames them."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    return sum(map(len, tokenizer(list(dict.fromkeys(texts)))["input_ids"]))


def bench_bertscore(bench: Bench) -> dict[str, Any]:
    """The package and ours: pairs a second."""
    from usual_way import UsualBertScore

    shape, read = bench.sizes.large, bench.sizes.read
    folder = roberta(bench, shape, "large", classifies=False)
    against = [[source] for source in bench.sources]
    found: dict[str, Any] = {}
    scores: dict[str, np.ndarray] = {}
    bench.memory()
    for size in bench.sizes.batches:
        torch.backends.cuda.enable_cudnn_sdp(True)
        usual = UsualBertScore(folder, read, device=bench.device, batch=size)
        usual.f1(bench.predictions[:size], against[:size])
        seconds, scores["package"] = bench.timed(
            lambda u=usual: u.f1(bench.predictions, against), 1
        )
        found[f"package, {size} at once"] = {"seconds": seconds, "GiB": bench.memory()}
        del usual
    flops = (
        2
        * replace(shape, layers=read).weights
        * n_tokens(folder, bench.sources + bench.predictions)
    )
    for dtype in ("float32", "bfloat16"):
        placement = Placement(device=bench.device, dtype=dtype)
        warm = TransformerEncoder(folder, read, placement=placement)
        bertscore(bench.predictions[:64], against[:64], warm)
        del warm
        encoder = TransformerEncoder(folder, read, placement=placement)
        side = f"ours, {dtype}"
        seconds, values = bench.timed(lambda e=encoder: bertscore(bench.predictions, against, e), 1)
        scores[dtype] = values.f1
        share = flops / seconds / bench.peak[dtype]
        found[side] = {"seconds": seconds, "GiB": bench.memory(), "share of peak": share}
        del encoder
    own = bench.compare("bertscore", scores["float32"], scores["package"])
    found["largest difference of F1, float32"] = own
    found["largest difference of F1, bfloat16"] = float(
        np.abs(scores["bfloat16"] - scores["float32"]).max()
    )
    return with_ratios(found, "ours, float32")


def bench_classifier(bench: Bench) -> dict[str, Any]:
    """The pipeline and ours: texts a second."""
    folder = roberta(bench, bench.sizes.base, "base", classifies=True)
    texts = bench.predictions
    found: dict[str, Any] = {}
    bench.memory()
    torch.backends.cuda.enable_cudnn_sdp(True)
    pipe = transformers.pipeline("text-classification", model=str(folder), device=bench.device)
    for size in bench.sizes.batches:
        pipe(texts[:size], batch_size=size)
        seconds, labels = bench.timed(lambda p=pipe, n=size: p(texts, batch_size=n, top_k=None), 1)
        found[f"pipeline, {size} at once"] = {"seconds": seconds, "GiB": bench.memory()}
    theirs = np.array([next(o["score"] for o in one if o["label"] == STYLES[0]) for one in labels])
    del pipe
    values = {}
    flops = 2 * bench.sizes.base.weights * n_tokens(folder, texts)
    for dtype in ("float32", "bfloat16"):
        model = TransformerModel.load(folder, Placement(device=bench.device, dtype=dtype))
        model.distribution(texts[:64])
        seconds, distribution = bench.timed(lambda m=model: m.distribution(texts), 1)
        values[dtype] = distribution[:, 0]
        share = flops / seconds / bench.peak[dtype]
        found[f"ours, {dtype}"] = {
            "seconds": seconds,
            "GiB": bench.memory(),
            "share of peak": share,
        }
        del model
    found["largest difference, float32"] = bench.compare("classifier", values["float32"], theirs)
    found["largest difference, bfloat16"] = float(
        np.abs(values["bfloat16"] - values["float32"]).max()
    )
    return with_ratios(found, "ours, float32")


def with_ratios(found: dict[str, Any], own: str) -> dict[str, Any]:
    """How many times the time of ours each side takes."""
    for side in found.values():
        if isinstance(side, dict):
            side["x ours"] = side["seconds"] / found[own]["seconds"]
    return found


class Timer(TrainerCallback):  # type: ignore[misc]
    """Of whichever trainer runs: seconds and tokens after the first steps."""

    bench: Bench
    start = seconds = 0.0
    tokens = before = 0
    each: ClassVar[list[float]] = []  # seconds from one step's end to the next
    last = 0.0

    def on_train_begin(self, *_: Any, **__: Any) -> None:
        Timer.start = 0.0
        Timer.tokens = Timer.before = 0
        Timer.each = []

    def on_log(self, *given: Any, logs: dict[str, Any], **_: Any) -> None:
        Timer.tokens = int(float(logs.get("num_tokens", Timer.tokens)))
        if given[1].global_step == Timer.bench.sizes.warm:
            Timer.before = Timer.tokens

    def on_step_end(self, *given: Any, **_: Any) -> None:
        step = given[1].global_step
        Timer.bench.wait()
        if step == Timer.bench.sizes.warm:
            Timer.start = time.perf_counter()
        now = time.perf_counter()
        Timer.seconds = now - Timer.start
        Timer.each.append(now - Timer.last)
        Timer.last = now


def llama(bench: Bench) -> Path:
    """Write a random LLaMA with a tokenizer of the texts, in bfloat16."""
    folder, shape = bench.folder / "llama", bench.sizes.llama
    texts = [prompt(instruction(DIRECTION), s) + p for s, p in pairs_of(bench)]
    tokenizer = byte_level_tokenizer(texts, "llama", bench.sizes.words, 2048)
    config = transformers.LlamaConfig(
        vocab_size=max(bench.sizes.words, len(tokenizer)),
        hidden_size=shape.width,
        intermediate_size=shape.between,
        num_hidden_layers=shape.layers,
        num_attention_heads=shape.heads,
        max_position_embeddings=2048,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    torch.manual_seed(0)
    with torch.device(bench.device):
        model = transformers.AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def pairs_of(bench: Bench) -> list[tuple[str, str]]:
    return list(zip(bench.sources, bench.predictions, strict=True))[: bench.sizes.pairs + 1]


def bench_qlora(bench: Bench) -> tuple[dict[str, Any], LlamaLora]:
    """SFTTrainer and ours: tokens a second."""
    folder, sizes = llama(bench), bench.sizes
    bits = "4bit" if bench.device == "cuda" else "none"
    config = replace(
        LlamaLoraConfig.for_direction(DIRECTION),
        base=str(folder),
        quantization=bits,
        batch_size=sizes.batch,
        micro_batch=sizes.batch,
        epochs=1,
        validate_every=10**9,
        hold_out=1,
    )
    Timer.bench = bench
    transformers.trainer.DEFAULT_CALLBACKS.append(Timer)
    found: dict[str, Any] = {}
    peak = "bfloat16" if bits == "4bit" else "float32"
    per_token = (
        4
        * sizes.llama.layers
        * (4 * sizes.llama.width**2 + 3 * sizes.llama.width * sizes.llama.between)
        + 4 * sizes.llama.width * sizes.words
    )
    pairs = tuple(pairs_of(bench))
    part = TrainingPart("train", tuple(s for s, _ in pairs), tuple(p for _, p in pairs), pairs)
    data = TrainingData(DIRECTION, "paper-v1", part)
    trained: LlamaLora | None = None
    bench.memory()
    sides = ("ours", "SFTTrainer, random order", "SFTTrainer, length groups")
    for side in (*sides, *sides):  # in turns, the best of two: the first pays for what is prepared
        torch.backends.cuda.enable_cudnn_sdp(True)  # as it is where nobody touches it
        if side == "ours":
            trained = LlamaLora.train(data, config, Run(device=bench.device))
        else:
            sampling = "random" if "random" in side else "group_by_length"
            sft(bench, folder, config, pairs[: sizes.pairs], sampling)
        speed = (Timer.tokens - Timer.before) / Timer.seconds
        first = found.get(side, {}).get("first tokens a second", speed)
        found[side] = {
            "first tokens a second": first,
            "tokens a second": max(speed, first),
            "GiB": bench.memory(),
            "seconds of steps": [round(step, 3) for step in Timer.each[1:]],
            "share of peak": max(speed, first) * per_token / bench.peak[peak],
        }
    for side in found.values():
        side["ours / it"] = found["ours"]["tokens a second"] / side["tokens a second"]
    assert trained is not None
    return found, trained


def sft(
    bench: Bench,
    folder: Path,
    config: LlamaLoraConfig,
    pairs: Sequence[tuple[str, str]],
    sampling: str,
) -> None:
    """As TRL's manual shows it."""
    from transformers import AutoModelForCausalLM, AutoTokenizer, BitsAndBytesConfig

    half = bench.device == "cuda"
    more: dict[str, Any] = {}
    if config.quantization == "4bit":
        more["quantization_config"] = BitsAndBytesConfig(
            load_in_4bit=True,
            bnb_4bit_quant_type="nf4",
            bnb_4bit_use_double_quant=True,
            bnb_4bit_compute_dtype=torch.bfloat16,
        )
    told = instruction(DIRECTION)
    rows = [{"prompt": prompt(told, s), "completion": p} for s, p in pairs]
    plain_sft.train(
        AutoModelForCausalLM.from_pretrained(
            folder,
            dtype=torch.bfloat16 if half else torch.float32,
            device_map={"": bench.device},
            **more,
        ),
        AutoTokenizer.from_pretrained(folder),
        rows,
        config,
        device=bench.device,
        sampling=sampling,
        logging_steps=1,
    )


def bench_decoding(bench: Bench, system: LlamaLora) -> dict[str, Any]:
    """The generation pipeline and ours: rewrites a second."""
    sizes = bench.sizes
    generation = Generation(settings={"beams": 1, "max_new_tokens": sizes.tokens})
    sources = bench.sources[-sizes.sentences :]
    writer = system.writer(system.read_generation(generation))
    found: dict[str, Any] = {}
    told = instruction(DIRECTION)
    prompts = [prompt(told, source) for source in sources]
    tokenizer = writer.tokenizer
    tokenizer.padding_side = "left"
    pipe = transformers.pipeline("text-generation", model=writer.model, tokenizer=tokenizer)
    sides: dict[str, Callable[[], Any]] = {
        "ours": lambda: list(
            system.transfer(sources, DIRECTION, generation=generation, device=bench.device)
        ),
        "pipeline": lambda: pipe(
            prompts, batch_size=system.BATCH_SIZE, max_new_tokens=sizes.tokens, do_sample=False
        ),
    }
    bench.memory()
    for side, work in (*sides.items(), *sides.items()):
        torch.backends.cuda.enable_cudnn_sdp(side != "ours")
        seconds, _ = bench.timed(work, 1)
        first = found.get(side, {}).get("first seconds", seconds)
        found[side] = {
            "first seconds": first,
            "seconds": min(seconds, first),
            "rewrites a second": len(sources) / min(seconds, first),
            "GiB": bench.memory(),
        }
    return with_ratios(found, "ours")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--tiny", action="store_true", help="the least work: only that all runs")
    parser.add_argument("--layers", type=int, help="of the language model, if 32 are too many")
    parser.add_argument("--parts", default="qlora,scoring", help="qlora (with decoding), scoring")
    parser.add_argument("--out", type=Path, default=Path("gpu.json"))
    asked = parser.parse_args()
    if asked.device == "cuda" and not torch.cuda.is_available():
        parser.error("torch finds no GPU: --device cpu --tiny shows that everything runs")
    warnings.simplefilter("ignore")
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    sizes = TINY if asked.tiny else Sizes()
    if asked.layers:
        sizes = replace(sizes, llama=replace(sizes.llama, layers=asked.layers))
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TSTBENCH_HOME"] = folder
        bench = Bench(asked.device, sizes, load_job(smoke=asked.tiny), Path(folder))
        result: dict[str, Any] = {
            "device": torch.cuda.get_device_name() if asked.device == "cuda" else "cpu",
            "torch": torch.__version__,
            "transformers": transformers.__version__,
            "sizes": asdict(sizes),
            "peak, TFLOP/s": {name: value / 1e12 for name, value in bench.peak.items()},
        }
        parts = asked.parts.split(",")
        if "qlora" in parts:
            found, system = bench_qlora(bench)
            keep(result, "qlora", found, asked.out)
            keep(result, "decoding", bench_decoding(bench, system), asked.out)
            del system
        if "scoring" in parts:
            keep(result, "bertscore", bench_bertscore(bench), asked.out)
            keep(result, "classifier", bench_classifier(bench), asked.out)
    for line in bench.differs:
        print(line)
    return 1 if bench.differs else 0


def keep(result: dict[str, Any], part: str, found: dict[str, Any], out: Path) -> None:
    """Write what is known so far: a later part may not fit the card."""
    result[part] = found
    write_json(out, result)
    print(f"{part}: {json.dumps(found, indent=2)}", flush=True)


if __name__ == "__main__":
    raise SystemExit(main())
