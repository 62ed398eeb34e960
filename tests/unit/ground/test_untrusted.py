"""JSON that others wrote: everything that is not plainly a value is refused, by name and line."""

import json
import os
import random
import time
from contextlib import suppress

import pytest
import yaml

from tstbench.errors import InputError, MissingFileError
from tstbench.pipelines.report import Sample, parse_samples, samples_content
from tstbench.untrusted import (
    MAX_DEPTH,
    MAX_LINE,
    MAX_YAML_BYTES,
    parse_json,
    parse_yaml,
    read_json,
    read_json_lines,
    read_small,
)

REFUSED = {
    "a key twice": ('{"a": 1, "b": {"c": 1, "c": 1}}', "the key 'c' is there twice"),
    "a key twice by an escape": ('{"a": 1, "\\u0061": 2}', "the key 'a' is there twice"),
    "NaN": ("[NaN]", "NaN is not a number in JSON"),
    "minus infinity": ('{"a": -Infinity}', "-Infinity is not a number in JSON"),
    "a number beyond floats": ("[1e999]", "the number 1e999 is too large"),
    "an endless integer": ("9" * 5000, "not JSON"),
    "half a surrogate pair": ('["\\ud800"]', "half of a surrogate pair"),
    "half a surrogate pair in a key": ('{"\\udc00": 1}', "half of a surrogate pair"),
    "deep lists": ("[" * 100_000 + "]" * 100_000, "nested more than 32 levels"),
    "deep objects": ('{"a":' * 100_000, "nested more than 32 levels"),
    "nothing": ("", "not JSON"),
    "two values": ("1 2", "not JSON"),
    "half a string": ('["' + "[" * 40, "not JSON"),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_what_is_refused(kind, tmp_path):
    text, message = REFUSED[kind]
    with pytest.raises(InputError, match=f"^here.json: .*{message}"):
        parse_json(text, "here.json")
    path = tmp_path / "lines.jsonl"
    path.write_text(f"\n{text or ','}\n")  # a blank line is none
    with pytest.raises(InputError, match=rf"lines\.jsonl, line 2: .*{message}"):
        list(read_json_lines(path))


def test_broken_files_are_a_value_or_our_error():
    draw = random.Random(11)
    good = json.dumps({"a": [1, 2.5, '\u00e9 \U0001f600 "q" \\'], "b": {"c": None, "d": True}})
    read = 0
    for _ in range(3000):
        broken = list(good)
        for _ in range(draw.randint(1, 3)):
            broken[draw.randrange(len(broken))] = draw.choice('[]{}",:\\ux0de1 N')
        text = "".join(broken)
        try:
            wanted = json.loads(text)
        except ValueError:
            with pytest.raises(InputError, match=r"^x: "):
                parse_json(text, "x")
            continue
        with suppress(InputError):  # a key twice or half a surrogate pair, which Python takes
            assert parse_json(text, "x") == wanted
            read += 1
    assert read > 100


def test_depth_counts_brackets_and_not_those_in_texts():
    fits = "[" * MAX_DEPTH + '"' + "[{" * 99 + '\\""' + "]" * MAX_DEPTH
    assert parse_json(fits, "x") == json.loads(fits)
    with pytest.raises(InputError, match="nested"):
        parse_json(f"[{fits}]", "x")
    assert len(parse_json(json.dumps([{}] * 1000), "x")) == 1000


class TestFiles:
    def test_none(self, tmp_path):
        with pytest.raises(MissingFileError, match="no such file"):
            read_json(tmp_path / "none.json")

    def test_too_large(self, tmp_path):
        path = tmp_path / "large.json"
        path.write_text('"' + "x" * 98 + '"')
        assert read_json(path, max_bytes=100) == "x" * 98
        with pytest.raises(InputError, match=r"large\.json is too large"):
            read_json(path, max_bytes=99)

    def test_no_file(self, tmp_path):
        os.mkfifo(tmp_path / "pipe")
        (tmp_path / "loop").symlink_to(tmp_path / "loop")
        with pytest.raises(MissingFileError, match="no such file"):
            read_small(tmp_path / "loop")
        for path in (tmp_path, tmp_path / "pipe", "/dev/zero"):
            with pytest.raises(InputError, match=r"is a folder|is a pipe or a device"):
                read_small(path)
        with pytest.raises(InputError, match="NUL character"):
            read_small("a\0b")


SAMPLE = Sample(
    id="s-1",
    source='a "quoted": [text',
    references=("é", "\u2028"),
    prediction="p",
    scores={"m": 1.5},
)


class TestSamples:
    def test_round_trip(self, tmp_path):
        two = [SAMPLE, SAMPLE.model_copy(update={"id": "s-2", "scores": {}})]
        assert [*parse_samples(samples_content(two), tmp_path)] == two

    @pytest.mark.parametrize(
        ("old", "new", "message"),
        [
            ('"prediction": "p"', '"prediction": "q", "prediction": "p"', "'prediction' is there"),
            ('"prediction": "p"', '"prediction" : "q", "prediction": "p"', "'prediction' is there"),
            ('"prediction": "p"', '"predictio\\u006e": "q", "prediction": "p"', "is there twice"),
            ('{"m": 1.5}', '{"m": 1.5, "m": 2.5}', "the key 'm' is there twice"),
            ('{"m": 1.5}', '{"m": NaN}', "NaN"),
            ('{"m": 1.5}', '{"m": {"m": 1.5}}', "not a sample"),
            ('{"m": 1.5}', "[]", "not a sample"),
            ('"p"', '"\\ud800"', "half of a surrogate pair"),
            ('"p"', '"p', "not JSON"),
        ],
    )
    def test_refused(self, tmp_path, old, new, message):
        (line,) = (one.decode() for one in samples_content([SAMPLE]))
        assert old in line
        with pytest.raises(InputError, match=f"line 1: .*{message}"):
            [*parse_samples([line.replace(old, new).encode()], tmp_path / "samples.jsonl")]

    def test_a_sentence_twice(self, tmp_path):
        with pytest.raises(InputError, match="line 2: the sentence 's-1' is there twice"):
            [*parse_samples(samples_content([SAMPLE, SAMPLE]), tmp_path)]

    def test_bytes_that_are_no_text(self, tmp_path):
        lines = [*samples_content([SAMPLE]), b'{"id": "\xff"}']
        with pytest.raises(InputError, match=r"line 2: not a sample: .*0xff"):
            [*parse_samples(lines, tmp_path)]


BOMB = "\n".join(
    [f"a0: &a0 [{', '.join('xxxxxxxxx')}]"]
    + [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 9)]
).encode()
YAML_REFUSED = {
    "a billion values in nine lines": (BOMB, r"line 2: has an alias \(\*a0\)"),
    "an alias of itself": (b"&a [*a]", "has an alias"),
    "a merge of aliases": (b"a: &a {b: 1}\nc:\n  <<: [*a, *a]", "line 3: has an alias"),
    "deep lists": (b"[" * 100_000, "nested too deeply"),
    "deep blocks": (b"- " * 100_000, "nested too deeply"),
    "deep mappings": (b"{a: " * 50_000, "nested too deeply"),
    "too long": (b"a: " + b"x" * MAX_YAML_BYTES, "256 KiB"),
    "a key twice": (b"a: 1\nb: {c: 1, c: 2}", "line 2: a key is there twice"),
    "half a surrogate pair": (b'"\\ud800"', "surrogate|not YAML"),
    "an endless number": (b"9" * 5000, "a number of 5000 characters"),
    "a number to base 60": (b"1" + b":1" * 50_000, "a number of 100001 characters"),
    "an object of Python": (b"!!python/object/apply:os.system [exit]", "could not determine"),
    "no date": (b"!!timestamp x", "not YAML"),
    "no truth": (b"!!bool x", "not YAML"),
    "no integer": (b"!!int ''", "not YAML"),
    "no such day": (b"2026-99-99", "not YAML"),
    "a list as a key": (b"{[1]: 2}", "not YAML"),
    "no UTF-8": (b"\xff", "not YAML"),
    "two documents": (b"a: 1\n---\nb: 2", "another document"),
}


@pytest.mark.parametrize("kind", YAML_REFUSED)
def test_yaml_that_is_refused(kind):
    content, why = YAML_REFUSED[kind]
    begun = time.process_time()
    with pytest.raises(InputError, match=why) as caught:
        parse_yaml(content, "card.yaml")
    assert str(caught.value).startswith("card.yaml")
    assert len(str(caught.value)) < 300
    assert time.process_time() - begun < 5


def test_yaml_is_read_as_pyyaml_reads_it():
    text = "a: [1, 2.5, null, true]\nb:\n  - {c: 2026-05-17}\n  - |\n    two\n    lines\n"
    wanted = yaml.safe_load(text)
    assert parse_yaml(text.encode(), "a.yaml") == wanted
    assert parse_yaml(b"", "a.yaml") is None
    deep = b"[" * MAX_DEPTH + b"]" * MAX_DEPTH
    assert parse_yaml(deep, "a.yaml") == yaml.safe_load(deep)


def test_a_line_without_end_is_refused_by_its_number(tmp_path):
    path = tmp_path / "lines.jsonl"
    path.write_text('{"a": 1}\n"' + "x" * MAX_LINE + '"\n')
    lines = read_json_lines(path)
    assert next(lines) == (1, {"a": 1})
    with pytest.raises(InputError, match=f"line 2: {MAX_LINE + 2} characters; the limit is"):
        next(lines)
