"""Every mistake on the command line: a call, the values that its message must name, a row each."""

import json

import pytest
from leaderboard_results import BACK, THERE, real_results
from refusals import calls, refuses

from tstbench.datasets_scripts.load import load_test_set
from tstbench.metrics.scorers.find import LEXICON

COPY = f"evaluate --baseline copy --direction {THERE}"
EVALUATE = f"evaluate --direction {THERE}"
COMPARE = "compare copy delete-retrieve results"
PAIR = f"{COMPARE} --direction {THERE}"
CALIBRATE = "calibrate li2018 --out x.json"
AUDIT = f"audit a.txt --direction {THERE}"
META = "meta-evaluate not-read.csv"
TRAIN = "train classifier mini"


@pytest.fixture(scope="module")
def workplace(tmp_path_factory):
    """What the calls below name: no call may change it."""
    folder = tmp_path_factory.mktemp("workplace")
    real_results(folder / "results", hostile=False)
    real_results(folder / "one" / "results", (BACK,), hostile=False)
    lines = load_test_set(THERE).sources
    texts = {
        "a.txt": "\n".join(lines) + "\n",
        "sub/a.jsonl": "".join(json.dumps({"prediction": line}) + "\n" for line in lines),
        "notes/a.txt": "x\n",
        "lone/significance.json": "{}",
        "data/mine.toml": "",
        f"answers/{THERE}/ours.card.json": "{}",
        "mine.txt": "mine",
        "theirs.json": '{"name": "theirs", "scores": []}',
        "theirs.jsonl": '{"mine": 1}\n',
        "nul.toml": 'out = "a\\u0000b"\n[[system]]\nsystem = "copy"\n',
        "suite.toml": 'metrics = ["s_bleu"]\n[[system]]\nsystem = "copy"\n'
        f'directions = ["{THERE}"]\n[[system]]\nsystem = "nast"\ndirections = ["{BACK}"]\n',
        "number.jsonl": '{"study": 1}\n',
        "study.jsonl": '{"study": "mine"}\n',
        "table.jsonl": "source,output\n",
        "table.csv": "Input,Output,style\nx,y,3\n",
        "p/my.csv": f"source,output,system,direction,style\na,b,x,{THERE},4\n",
        "q/my.csv": f"source,output,system,direction,style\na,b,x,{THERE},4\n",
        "empty.csv": "",
        f"one/results/{BACK}/significance.json": "{}",
    }
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    (folder / "empty").mkdir()
    return folder


@calls(
    ("evalute", "'evalute'", "'evaluate'"),
    (
        "evaluate --baseline copy --direction yelp/negativ-to-positive",
        "'yelp/negativ-to-positive'",
        "'yelp/negative-to-positive'",
    ),
    ("evaluate --baseline copy --direction mini", THERE, BACK),
    (f"{COPY} --metrics acc selfbleu", "'selfbleu'", "'s_bleu'"),
    (f"{COPY} --profile papr", "'papr'", "'paper'"),
    (f"{COPY} --set bleu.protocol=13b", "'13b'", "'13a'"),
    (f"{COPY} --set bleu.protocl=13a", "'protocl'", "'protocol'"),
    (f"{COPY} --set blue.protocol=13a", "'blue'", "'bleu'"),
    (f"{COPY} --set 13a", "'13a'", "FAMILY.OPTION=VALUE"),
    (f"{COPY} --set fluency.smooth=1", "fluency", "'smooth'"),
    (f"{COPY} --set joint.weights=2,x,1", "weights.1 of joint", "'x'"),
    (f"{COPY} --set ppl.norm=word", "ppl.norm", "'word'", "'words"),
    (f"{COPY} --scorer classifer=linear", "'classifer'", "'classifier'"),
    (f"{COPY} --scorer linear", "'linear'", "ROLE=SCORER", "classifier"),
    (f"{COPY} --scorer classifier=linaer", "'linaer'", "'linear'"),
    (
        f"{COPY} --scorer classifier=linear --scorer classifier=fasttext",
        "classifier",
        "'linear'",
        "'fasttext'",
    ),
    (f"{COPY} --dtype float8", "'float8'"),
    (f"{COPY} --device gpu", "'gpu'"),
    (f"evaluate --baseline copi --direction {THERE}", "'copi'", "'copy'"),
    (f"evaluate --baseline reference-5 --direction {THERE}", THERE, "4", "reference-5"),
    (f"{COPY} --out a.txt", "--out a.txt"),
    (f"{COPY} --metrics s_bleu --out /proc/nope/results", "cannot be made"),
    (f"{COPY} --metrics cps --set cps.mask=masked --scorer attribution=linear", "linear"),
    (
        "evaluate --baseline copy --direction gyafc_em/informal-to-formal",
        "TSTBENCH_GYAFC",
    ),
    ("evaluate --baseline copy --direction yelp/negative-to-positive", "TSTBENCH_SOURCES"),
    (f"{EVALUATE} --metrics s_bleu a.txt", "'a.txt'"),
    (EVALUATE, "OUTPUTS", "--baseline"),
    (f"{COPY} delete-retrieve", "--baseline delete-retrieve"),
    (f"{COPY} reference-2", "--baseline reference-2"),
    (f"{EVALUATE} nowhere.txt", "nowhere.txt"),
    (f"{EVALUATE} a=nowhere.txt", "nowhere.txt"),
    (f"{EVALUATE} lr=0.2/out.txt", "0.2/out.txt, nor lr=0.2/out.txt"),
    (f"{EVALUATE} empty", "empty", ".txt, .jsonl"),
    (f"{EVALUATE} a.txt sub/a.jsonl", "'a'"),
    (f"{EVALUATE} a.txt A=sub/a.jsonl", "'a' and 'A'"),
    (f"{EVALUATE} 'x y=a.txt' x_y=a.txt", "'x y' and 'x_y'"),
    (f"{EVALUATE} copy=a.txt --baseline copy", "'copy'"),
    (f"{EVALUATE} =a.txt", "''"),
    (f"{EVALUATE} ..=a.txt", "'..'"),
    (f"{EVALUATE} {'n' * 101}=a.txt", "101", "100"),
    (f"{EVALUATE} '\x1b[31mred=a.txt'", r"'\x1b[31mred'"),
    (f"{EVALUATE} 'two\nlines=a.txt'", r"'two\nlines'"),
    (f"{EVALUATE} 'new\x85line=a.txt'", r"'new\x85line'"),
    (f"{EVALUATE} mine=sub", "mine=sub"),
    (f"{EVALUATE} 'a\0.txt'", "NUL"),
    (f"transfer copi --direction {THERE} --out x", "'copi'"),
    (f"transfer copy --direction {THERE} --out empty", "empty", "copy.jsonl"),
    (f"transfer copy --direction {THERE} --out a.txt/x.jsonl", "a.txt"),
    (f"transfer copy --direction {THERE} --out theirs.jsonl", "theirs.jsonl"),
    (f"transfer copy --direction {THERE} --out out.txt", "out.jsonl"),
    (f"transfer copy --direction {THERE} --generation marks", "marks", "KEY=VALUE"),
    (f"transfer copy --direction {THERE} --generation marks=2", "'marks'"),
    (f"transfer reference-1 --direction {THERE} --out r.jsonl --dry-run", "reference-1"),
    ("prepare mni", "'mni'", "'mini'"),
    ("prepare cola", "cola has no directions"),
    ("sources cds/joyce-to-bible", "cds has no directions"),
    ("train dar --dataset cds --out x", "cds has no directions"),
    ("build mimi --out x", "'mimi'", "'mini'"),
    ("build mini --cleaning thorough --out x", "cleaning 'thorough'"),
    *((f"cache list {option}", option) for option in ("--dry-run", "--yes", "--systems")),
    ("prepare mini --profile papr", "'papr'", "'paper'"),
    ("run nowhere.toml", "nowhere.toml"),
    ("run 'a\0.toml'", "NUL"),
    ("run nul.toml", "NUL"),
    ("hub serve 'a\0'", "NUL"),
    ("run suite.toml --system cpoy", "'cpoy'", "'copy'"),
    ("run suite.toml --direction mini/negative-to-postive", f"'{THERE}'"),
    ("run suite.toml --metric s-bleu", "'s-bleu'", "'s_bleu'"),
    (f"run suite.toml --system copy --direction {BACK}", f"copy on {BACK}"),
    ("run suite.toml --batch-size 0", "at least 1, not 0"),
    # -- views of results
    ("analyze notes", "notes"),
    ("analyze nowhere", "nowhere"),
    (f"analyze results/{THERE}", "Give the folder above, results"),
    ("analyze results --systems coppy", "'coppy'", "'copy'"),
    ("analyze results --directions mini/negative", "'mini/negative'", f"'{BACK}'"),
    ("analyze results --join cae", "cae"),
    ("analyze results --plane acd ppl", "acd"),
    ("analyze results --out results", "results"),
    ("analyze results --out notes", "notes", "did not write"),
    ("analyze results --human number.jsonl", "number.jsonl, line 1: study: "),
    ("analyze results --human study.jsonl", "study.jsonl, line 1: dataset: "),
    ("analyze results --human table.jsonl", "table.jsonl, line 1", ".csv"),
    ("analyze results --human table.csv", "output, source, system", "table.csv"),
    ("analyze results --human none.jsonl", "none.jsonl"),
    ("report results --directions mini/negative-to-postive", f"'{THERE}'"),
    ("report results --metrics sbleu", "'s_bleu'"),
    ("report results --metrics acc", "'acc'", "s_bleu"),
    ("report results --systems coppy", "'copy'"),
    ("report results/mini", "dataset's folder", "Give the folder above, results"),
    (f"report results/{THERE}", "direction's folder", "Give the folder above, results"),
    ("report one", "one/results"),
    ("report empty", "empty"),
    ("report nowhere", "nowhere"),
    ("report results --out x.pdf", "x.pdf"),
    ("report results --out empty --format csv", "empty"),
    ("report results --out mine.txt --format csv", "mine.txt"),
    ("report --directions mini results", "RESULTS"),
    ("compare coppy delete-retrieve results", "'copy'"),
    ("compare copy copy results", "'copy'"),
    (COMPARE, "--direction", THERE),
    (f"{PAIR} --by joint", "s_bleu, r_bleu"),
    (f"{PAIR} --worst 1 --by r_blue", "'r_bleu'"),
    (f"{PAIR} --worst -1", "--worst -1"),
    (f"{PAIR} --metrics blue", "'blue'"),
    (f"{PAIR} --metrics acc", "acc"),
    ("compare copy x nowhere", "nowhere"),
    *(
        (f"leaderboard one/results/{path}", "one/results", kind)
        for path, kind in (
            ("mini", "dataset's folder"),
            (BACK, "direction's folder"),
            (f"{BACK}/copy", "system's folder"),
            (f"{BACK}/copy/report.json", "is a file"),
            (f"{BACK}/significance.json", "is a file"),
        )
    ),
    ("leaderboard one", "one/results"),
    ("leaderboard notes", "a.txt", "report.json"),
    ("leaderboard notes/a.txt", "notes/a.txt"),
    ("leaderboard lone/significance.json", "<dataset>/<direction>"),
    ("leaderboard data", "mine.toml"),
    ("leaderboard answers", "not scored yet"),
    ("leaderboard nowhere", "nowhere"),
    ("hub build hub --results one/results/mini --datasets mini", "above, one/results"),
    (
        f"annotate s --direction {BACK} --raters ann --results one/results/mini",
        "above, one/results",
    ),
    *(
        (f"annotate s {given}", "s has no study yet", "--results, --direction and --raters")
        for given in (
            f"--direction {BACK} --raters ann",
            "--results results --raters ann",
            f"--results results --direction {BACK}",
        )
    ),
    (
        f"annotate s --results results --direction {BACK} --raters ann --per-system 0",
        "0 outputs per system",
        "at least 1",
    ),
    (f"sources {THERE} --references --format text", "--format jsonl"),
    ("sources mini/negative-to-postive", f"'{THERE}'"),
    (f"sources {THERE} --out mine.txt", "mine.txt"),
    ("hub results results --model you", "'you'", "USER/MODEL"),
    ("hub results results --model a/b --system copy", "copy"),
    ("hub results results --model a/b --system delet", "'delet'"),
    (
        "hub results results --model a/b --system delete-retrieve --source javascript:x",
        "javascript:x",
    ),
    ("hub results results --model a/b --system delete-retrieve", "HF_TOKEN"),
    *(
        (f"hub {call} --namespace '{name}'", f"{name!r}")
        for call in ("push notes", "push notes --dry-run", "results notes --model a/b")
        for name in ("a b", "", "../x", "a/b", "xxx\n")
    ),
    # -- people's scores
    (f"{META} --metrics s_bleu --scores x.csv", "--metrics or --scores"),
    (f"{META} --metrics s_bleu --out notes", "notes", "did not write"),
    (f"{META} --metrics s_bleu --summary theirs.json", "theirs.json"),
    (f"{META} --metrics s_bleu --lower-is-better ppl", "--lower-is-better", "--scores"),
    ("meta-evaluate p/my.csv q/my.csv --metrics s_bleu", "p/my.csv", "q/my.csv"),
    ("meta-evaluate p/my.csv --study q/my.csv --metrics s_bleu", "q/my.csv"),
    ("meta-evaluate li2018 --metrics selfbleu", "'s_bleu'"),
    ("meta-evaluate li2018 --metrics s_bleu --scores x.csv", "--metrics or --scores"),
    ("meta-evaluate li2018 --lower-is-better x", "--scores, which is not given"),
    ("meta-evaluate li2018 --column style=A", "--column"),
    ("meta-evaluate li2018 --resamples 3", "100"),
    ("meta-evaluate li2018 --scores nothing.csv", "nothing.csv"),
    ("calibrate li2018 --out mine.txt", "mine.txt", ".json"),
    ("calibrate li2018 --out .", ".json"),
    ("calibrate li2018 --out theirs.json", "theirs.json"),
    (f"{CALIBRATE} --parts style", "PART=METRIC"),
    (f"{CALIBRATE} --parts style=sti style=acc", "style"),
    (f"{CALIBRATE} --parts style=stii", "'sti'"),
    (f"{CALIBRATE} --metrics bleu", "--parts"),
    (f"{CALIBRATE} --without yelp/negative-to-positiv", "'yelp/negative-to-positive'"),
    (f"{CALIBRATE} --resamples 5", "100"),
    ("judgments mir2018 --out x.jsonl", "'mir2018'", "'mir2019'"),
    ("judgments li2017 --out x.jsonl", "'li2017'", "'li2018'"),
    ("judgments mir2019 --scale 1-7 --out x.jsonl", "--scale"),
    ("judgments mine.jsonl --column style=A --out x.jsonl", "--column"),
    ("judgments p/my.csv --column content --out x.jsonl", "OURS=THEIRS"),
    ("judgments mir2019 --out x.csv", "x.csv", "JSON Lines"),
    ("judgments empty.csv --out x.jsonl", "empty.csv"),
    (f"audit --direction {THERE} --claim bleu=3", "0 files and 1 directions"),
    ("audit a.txt --claim bleu=3", "1 files and 0 directions"),
    (AUDIT, "--claim METRIC=NUMBER"),
    (f"audit a.txt a.txt --direction {THERE} --direction {THERE} --claim bleu=3", THERE),
    (f"{AUDIT} --claim bleu=140", "140", "from 0 to 100"),
    (f"{AUDIT} --claim ppl=0.9", "0.9", "1 or more"),
    (f"{AUDIT} --claim joint=-0.1", "-0.1", "from 0 to 1"),
    (f"{AUDIT} --claim s-bert=-1.2", "-1.2", "from -1 to 1"),
    (f"{AUDIT} --claim bleu=nan", "'bleu=nan'", "METRIC=NUMBER"),
    (f"audit published:nobody --direction {THERE} --claim bleu=3", "nobody"),
    (f"{AUDIT} --claim multi_bleu=3 --table x.csv", "--table"),
    (f"{AUDIT} --claim r_bert=0.5 --profile paper", "nothing to compare"),
    ("harness --out P", "--out", "LOG"),
    ("harness none.jsonl --out P --name '?!'", "'?!'", "letter"),
    # -- training
    ("train delete-retrieve", "--direction"),
    (f"train delete-retrieve --direction {THERE} --dataset mini", "--direction"),
    (f"train delete-retrieve --direction {THERE} --out notes", "notes", "did not write"),
    (f"train stytrans --direction {THERE} --seeds 1", "seeds", "2"),
    (f"train stytrans --direction {THERE} --seeds many", "seeds", "integer"),
    (f"train delete-retrieve --direction {THERE} --seeds 2", "delete-retrieve"),
    (f"train delete-retrieve --direction {THERE} --max-ngra 3", "'--max-ngra'", "'--max-ngram'"),
    ("train classifier", "tstbench train classifier yelp"),
    (f"{TRAIN} --epochs 3", "--epochs"),  # the default kind has none
    (f"{TRAIN} --kind textcnn --epochs 0", "epochs of textcnn"),
    (f"{TRAIN} --kind finetuned --betas [0.9]", "betas"),
    (f"{TRAIN} --kind nearest", "'nearest'"),
    (f"{TRAIN} --without li2018", "--name"),
    (f"{TRAIN} --without li2018 --name linear", "--name linear"),
    ("train lexicon mini --without li2018", "--name"),
    ("train lexicon mini --inverse-penalty much", "inverse_penalty of lexicon"),
    (f"train lexicon mini --without li2018 --name {LEXICON}", f"--name {LEXICON}"),
    ("style-invariance nowhere", "'nowhere'"),
    ("style-invariance unheard --out notes", "notes", "did not write"),
    ("style-invariance mini --embedding no/such-model", "no/such-model"),
    ("style-invariance mini --sentences 1", "--sentences", "2"),
    ("style-invariance mini --permutations 0", "--permutations", "1"),
    ("style-invariance mini --seed -1", "--seed", "0"),
    ("style-invariance mini --points -1 --out page", "--points", "0"),
    ("style-invariance mini --device gpu", "'gpu'"),
)
def test_a_mistake_is_one_message(call, named, workplace, capsys, snapshot, monkeypatch):
    monkeypatch.chdir(workplace)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.delenv("TSTBENCH_SOURCES", raising=False)
    refuses(capsys, call, named, snapshot)
