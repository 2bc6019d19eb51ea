"""Writes docs/reference/python.md from the sources of the package: `python reference.py`; a test compares the two."""

from __future__ import annotations

import ast
import textwrap
from pathlib import Path

HERE = Path(__file__).parent
PAGE = HERE.parent / "docs/reference/python.md"
PACKAGE = HERE / "package/tapewise"
WIDTH = 120

HEAD = """# Python

The names of `import tapewise`, with their types, made from the sources by `python python/reference.py`. [Use tapewise
from Python](../how-to/use-from-python.md) shows them at work, and [Names](names.md) has them beside those of Rust and
C. The package is typed (`py.typed`): editors and `mypy --strict` know what stands here.
"""

# In reading order; every name of `__all__` is in one of them.
MODULES = ["profile", "cartridge", "batch", "orders", "logs", "emulated", "simulation", "table", "errors"]
# Imported by themselves, because they need more than the rest or take longer.
ASIDE = ["plot", "benchmark"]


def module(name: str) -> ast.Module:
    return ast.parse((PACKAGE / f"{name}.py").read_text(encoding="utf-8"))


def public() -> set[str]:
    for node in module("__init__").body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return set(ast.literal_eval(node.value))
    raise AssertionError("no __all__")


def text_of(node: ast.FunctionDef | ast.ClassDef | ast.Module) -> str:
    """The docstring as paragraphs; examples in it as code."""
    parts = []
    for part in textwrap.dedent(ast.get_docstring(node) or "").split("\n\n"):
        is_code = part.lstrip().startswith(">>>")
        parts.append(f"```python\n{textwrap.dedent(part)}\n```" if is_code else textwrap.fill(part, WIDTH))
    return "\n\n".join(parts)


def signature(node: ast.FunctionDef, name: str, is_method: bool) -> str:
    arguments = node.args
    first = 1 if is_method else 0
    positional = [*arguments.posonlyargs, *arguments.args]
    defaults = [None] * (len(positional) - len(arguments.defaults)) + list(arguments.defaults)
    shown = [argument(one, default) for one, default in zip(positional, defaults, strict=True)][first:]
    shown += ["/"] if arguments.posonlyargs and len(shown) else []
    shown += ["*"] if arguments.kwonlyargs else []
    shown += [argument(one, at) for one, at in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)]
    shown += [f"**{arguments.kwarg.arg}"] if arguments.kwarg else []
    returns = "" if node.returns is None or node.name == "__init__" else f" -> {ast.unparse(node.returns)}"
    line = f"{name}({', '.join(shown)}){returns}"
    return line if len(line) <= WIDTH else f"{name}(\n    " + ",\n    ".join(shown) + f",\n){returns}"


def argument(one: ast.arg, default: ast.expr | None) -> str:
    kind = "" if one.annotation is None else f": {ast.unparse(one.annotation)}"
    if default is None:
        return one.arg + kind
    return f"{one.arg}{kind} = {ast.unparse(default)}" if kind else f"{one.arg}={ast.unparse(default)}"


def fields(node: ast.ClassDef) -> list[str]:
    """Attributes and properties, each with what stands below it."""
    lines = []
    for number, item in enumerate(node.body):
        if isinstance(item, ast.AnnAssign) and not ast.unparse(item.target).startswith("_"):
            below = node.body[number + 1] if number + 1 < len(node.body) else None
            words = below.value.value if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant) else ""
            lines.append((ast.unparse(item.target), ast.unparse(item.annotation), str(words)))
        elif isinstance(item, ast.FunctionDef) and is_property(item) and not item.name.startswith("_"):
            kind = "" if item.returns is None else ast.unparse(item.returns)
            lines.append((item.name, kind, ast.get_docstring(item) or ""))
    return [f"| `{name}` | `{kind.replace('|', chr(92) + '|')}` | {' '.join(words.split())} |"
            for name, kind, words in lines]  # fmt: skip


def is_property(item: ast.FunctionDef) -> bool:
    return any(ast.unparse(one) == "property" for one in item.decorator_list)


def entry(node: ast.ClassDef | ast.FunctionDef) -> str:
    parts = [f"### {node.name}"]
    if isinstance(node, ast.FunctionDef):
        parts += [f"```python\n{signature(node, node.name, False)}\n```", text_of(node)]
        return "\n\n".join(parts)
    methods = [item for item in node.body if isinstance(item, ast.FunctionDef) and not is_property(item)]
    for item in methods:
        if item.name == "__init__":
            parts.append(f"```python\n{signature(item, node.name, True)}\n```")
    parts.append(text_of(node))
    parts += [text_of(item) for item in methods if item.name == "__init__" and ast.get_docstring(item)]
    if table := fields(node):
        parts.append("\n".join(["| attribute | type | |", "|---|---|---|", *table]))
    for item in methods:
        if not item.name.startswith("_"):
            is_static = any(ast.unparse(one) == "staticmethod" for one in item.decorator_list)
            name = f"{node.name}.{item.name}"
            parts += [f"```python\n{signature(item, name, not is_static)}\n```", text_of(item)]
    return "\n\n".join(parts)


def page() -> str:
    parts, left = [HEAD.strip()], public()
    for name in [*MODULES, *ASIDE]:
        source = module(name)
        heading, _, rest = text_of(source).partition("\n\n")
        prefix = f"`tapewise.{name}`: " if name in ASIDE else ""
        parts.append(f"## {prefix}{' '.join(heading.split()).removesuffix('.')}")
        parts += [rest] if rest else []
        for node in source.body:
            if not isinstance(node, (ast.ClassDef, ast.FunctionDef)) or node.name.startswith("_"):
                continue
            if name in ASIDE or node.name in left:
                left.discard(node.name)
                parts.append(entry(node))
    assert not left, left
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
