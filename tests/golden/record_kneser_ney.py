"""Record kneser_ney.json from the lmplz on PATH: python tests/golden/record_kneser_ney.py"""

import hashlib
import tempfile
from pathlib import Path

from tstbench.files import write_json
from tstbench.metrics.scorers.kneser_ney import estimate
from tstbench.metrics.scorers.language_model import run_lmplz, write_arpa

RESTAURANT = """\
the food was good .
the food was great .
the food was great and the service was good .
the food was cold and the service was slow .
the service was slow .
the service was great .
the service here is great .
the service here is slow , but the food is good .
i love this place .
i love the food here .
i love the food and the people .
we love this place and the people here .
we will be back .
we will not be back .
i will be back soon .
i will never be back .
the staff was friendly .
the staff was rude .
the staff is friendly and helpful .
the staff here was rude and slow .
great food , great service .
good food , friendly staff .
cold food , rude staff .
the room was clean .
the room was dirty and cold .
our room was clean and quiet .
our table was dirty .
the pizza was good , the salad was great .
the pizza was cold .
the pizza here is the best .
this is the best place for pizza .
this place is the best .
this place is dirty .
the prices are fair .
the prices are too high .
the prices here are fair , and the food is good .
i would not go back .
i would go back for the pizza .
never again .
never again !
a great place for lunch .
a good place for a quick lunch .
the lunch was quick and good .
they were friendly .
they were slow and rude .
they never called back .
they called back the same day .
great place !
great service !
love it !
love this place !
""".splitlines()

# What each case is there for: discounts estimated up to 4-grams, 5-grams falling back; discounts
# estimated throughout; orders without any n-gram; only </s>; an empty sentence, odd spaces, other
# scripts, a word like a section header; the tally of the n-grams open at the end, which are those
# of the newest word (`zed` occurs thrice, but after one word only); D3+ of exactly 0.
COUNTS = [1, 1, 2, 2, 3, 3, 3, 3, *[4] * 9]
CASES = [
    ("restaurant", 5, RESTAURANT),
    ("restaurant, trigrams", 3, RESTAURANT),
    ("one word", 5, ["good"]),
    ("only an empty sentence", 3, [""]),
    ("odd text", 4, ["café  crème", "", "\tcafé\u00a0noir naïve ", "日本 語 日本", "a-grams: b"]),
    ("zero back-off", 2, [f"y{i}" for i, count in enumerate(COUNTS) for _ in range(count)]),
    ("newest word frequent", 3, [*RESTAURANT, "so zed", "so zed", "so zed"]),
]


def main() -> None:
    cases = []
    with tempfile.TemporaryDirectory() as folder:
        for name, order, sentences in CASES:
            theirs, ours = Path(folder, "lmplz.arpa"), Path(folder, "own.arpa")
            run_lmplz(sentences, theirs, order)
            write_arpa(estimate(sentences, order), ours)
            cases.append(
                {
                    "name": name,
                    "order": order,
                    "sentences": sentences,
                    "own_sha256": hashlib.sha256(ours.read_bytes()).hexdigest(),
                    "arpa": theirs.read_text("utf-8").splitlines(),
                }
            )
    origin = "lmplz of kenlm 0.3.0, --discount_fallback, the order of each case"
    write_json(Path(__file__).with_name("kneser_ney.json"), {"origin": origin, "cases": cases})


if __name__ == "__main__":
    main()
