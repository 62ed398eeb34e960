"""The numbers that the product is set to, to read and to be asked about when one changes.

That is: constants, fields and their ranges, defaults of arguments, what functions give others by
name (presets, limits, switches of libraries), and which dataclasses can be changed. After one of
them changed on purpose: ``pytest tests/unit/house/test_numbers.py --snapshot-update``, and the diff
of ``__snapshots__/test_numbers.ambr`` goes into the commit.
"""

import ast
from collections.abc import Iterator

import pytest
from places import ROOT

GROUND = "."
ROOMS = (GROUND, "chat", "commands", "datasets_scripts", "metrics", "pipelines", "plots", "spaces",
         "trainers")  # fmt: skip
DEFINED = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
# What is no setting: sides of arrays, and what is nearly always so.
USUAL = {"axis", "dim", "keepdim", "keepdims", "start", "strict=True", "exist_ok=True",
         "parents=True", "ensure_ascii=False"}  # fmt: skip
FROZEN = "dataclass(frozen=True)"  # as nearly all are


def has_number(node: ast.AST) -> bool:
    """``True`` and ``False`` are numbers too."""
    constants = (one for one in ast.walk(node) if isinstance(one, ast.Constant))
    return any(isinstance(one.value, int | float) for one in constants)


def is_number(node: ast.expr) -> bool:
    """Or several, or a sum of some, without a name."""
    parts = (ast.Constant, ast.Tuple, ast.List, ast.Load, ast.UnaryOp, ast.BinOp, ast.operator,
             ast.unaryop)  # fmt: skip
    return has_number(node) and all(isinstance(one, parts) for one in ast.walk(node))


class Shortened(ast.NodeTransformer):
    """Without texts, and without arguments in which there is no number."""

    def visit_Call(self, node: ast.Call) -> ast.Call:
        node.args = [one for one in node.args if has_number(one)]
        node.keywords = [one for one in node.keywords if has_number(one)]
        self.generic_visit(node)
        return node

    def visit_Constant(self, node: ast.Constant) -> ast.Constant:
        return ast.Constant(...) if isinstance(node.value, str | bytes) else node

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.Constant:
        return ast.Constant(...)


def short(node: ast.AST) -> str:
    return ast.unparse(Shortened().visit(node))


def defaults(taken: ast.arguments) -> Iterator[tuple[ast.arg, ast.expr]]:
    """The arguments that have a number by default."""
    names = [*taken.posonlyargs, *taken.args]
    last = names[len(names) - len(taken.defaults) :]
    for argument, default in (
        *zip(last, taken.defaults, strict=True),
        *zip(taken.kwonlyargs, taken.kw_defaults, strict=True),
    ):
        if default is not None and has_number(default):
            yield argument, default


def given(node: ast.AST) -> Iterator[str]:
    """Numbers that are given by name, call by call; not those of definitions inside."""
    if isinstance(node, DEFINED):
        return
    if isinstance(node, ast.Call):
        some = [f"{one.arg}={short(one.value)}" for one in node.keywords if is_number(one.value)]
        some = [one for one in some if not {one, one.partition("=")[0]} & USUAL]
        if some:
            yield f"{ast.unparse(node.func).rpartition('.')[2]}({', '.join(some)})"
    for child in ast.iter_child_nodes(node):
        yield from given(child)


def numbers(body: list[ast.stmt], owner: str = "", in_function: bool = False) -> Iterator[str]:
    """A line each; of what runs in functions, only what is defined there."""
    for node in body:
        if isinstance(node, DEFINED):
            name = f"{owner}{node.name}"
            for decorator in node.decorator_list:
                said = short(decorator)
                if said != FROZEN and (said == "dataclass" or has_number(decorator)):
                    yield f"{name} @{said}"
            is_class = isinstance(node, ast.ClassDef)
            if not is_class:
                for argument, default in defaults(node.args):
                    yield f"{name}({argument.arg}={short(default)})"
                yield from (f"{name}: {call}" for one in node.body for call in given(one))
            yield from numbers(node.body, f"{name}.", in_function=not is_class)
        elif not in_function and has_number(node):
            yield f"{owner}{short(node)}"


@pytest.mark.parametrize("room", ROOMS)
def test_a_number_that_changed_is_meant(room, snapshot):
    folder = ROOT / room
    found = []
    for file in sorted(folder.glob("*.py") if room == GROUND else folder.rglob("*.py")):
        lines = numbers(ast.parse(file.read_text("utf-8")).body)
        name = file.relative_to(ROOT).as_posix().removesuffix(".py")
        found += [f"{name} {line}" for line in lines]
    assert "\n".join(found) == snapshot, "if that is meant, pytest --snapshot-update records it"
