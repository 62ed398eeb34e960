"""Every number that the product is set to, to read and to be asked about when one changes.

That is: constants, fields and their ranges, defaults of arguments, and which dataclasses can be
changed. After one of them changed on purpose: ``pytest tests/unit/house/test_numbers.py
--snapshot-update``, and the diff of ``__snapshots__/test_numbers.ambr`` goes into the commit.
"""

import ast
from collections.abc import Iterator

import pytest
from places import ROOT

GROUND = "."
ROOMS = (GROUND, "chat", "commands", "datasets_scripts", "metrics", "pipelines", "plots", "spaces",
         "trainers")  # fmt: skip
FROZEN = "dataclass(frozen=True)"  # as nearly all are


def has_number(node: ast.AST) -> bool:
    """``True`` and ``False`` are numbers too."""
    constants = (one for one in ast.walk(node) if isinstance(one, ast.Constant))
    return any(isinstance(one.value, int | float) for one in constants)


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


def defaults(given: ast.arguments) -> Iterator[tuple[ast.arg, ast.expr]]:
    """The arguments that have a number by default."""
    names = [*given.posonlyargs, *given.args]
    last = names[len(names) - len(given.defaults) :]
    for argument, default in (
        *zip(last, given.defaults, strict=True),
        *zip(given.kwonlyargs, given.kw_defaults, strict=True),
    ):
        if default is not None and has_number(default):
            yield argument, default


def numbers(body: list[ast.stmt], owner: str = "", in_function: bool = False) -> Iterator[str]:
    """A line each; of what runs in functions, only what is defined there."""
    for node in body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            name = f"{owner}{node.name}"
            for decorator in node.decorator_list:
                said = short(decorator)
                if said != FROZEN and (said == "dataclass" or has_number(decorator)):
                    yield f"{name} @{said}"
            is_class = isinstance(node, ast.ClassDef)
            if not is_class:
                for argument, default in defaults(node.args):
                    yield f"{name}({argument.arg}={short(default)})"
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
