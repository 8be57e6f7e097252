"""Docstrings as Markdown: numpydoc's sections become lists and blocks, and public names become links."""

import inspect
import re
import textwrap
from collections.abc import Callable, Iterator
from typing import Any

import polars as pl

#: The start of a section: its title, underlined.
SECTION = re.compile(r"^(\w[\w ]*)\n-{3,}\n", re.MULTILINE)

#: Code in a line, which stays as it is.
CODE = re.compile(r"(`+[^`]*`+)")

URL = re.compile(r"(?<![<(\w])(https?://[^\s;,)>]*[^\s;,.)>])")


def sections(text: str) -> dict[str, str]:
    """The parts of a docstring by title, what stands before the first one under an empty title."""
    before, *rest = SECTION.split(text)
    return {"": before.strip()} | {title: body.strip("\n") for title, body in zip(rest[::2], rest[1::2], strict=True)}


def paragraph(text: str, names: frozenset[str]) -> str:
    """Text in which angle brackets and addresses are what they look like, and public names are links."""
    pieces = CODE.split(text)
    return "".join(_linked(piece, names) if piece.startswith("`") else _plain(piece) for piece in pieces)


def _plain(text: str) -> str:
    text = re.sub(r"<(?!https?:)", r"\\<", text)
    # Asterisks that stand close to a word would make it italic.
    text = re.sub(r"(?<!\s)\*(?=\w)|(?<=\w)\*(?!\s)|(?<=\s)\*(?=\w)", r"\\*", text)
    return URL.sub(r"<\1>", text)


def _linked(code: str, names: frozenset[str]) -> str:
    name = code.strip("`").removeprefix("ir.").removesuffix("()")
    return f"[{code}](#ir.{name})" if name in names else code


def prose(text: str, names: frozenset[str]) -> str:
    """Paragraphs, lists, examples and indented blocks as Markdown."""
    return "\n\n".join(_block(block, names) for block in _blocks(text))


def _blocks(text: str) -> Iterator[str]:
    """Paragraphs; what is indented stays together with the paragraphs that are indented after it."""
    held: list[str] = []
    for block in re.split(r"\n\s*\n", text.strip("\n")):
        if held and not block.startswith("    "):
            yield "\n\n".join(held)
            held = []
        if block.startswith("    "):
            held.append(block)
        elif block.strip() != "::":
            yield block
    if held:
        yield "\n\n".join(held)


def _block(block: str, names: frozenset[str]) -> str:
    if block.lstrip().startswith(">>>"):
        return f"```pycon\n{textwrap.dedent(block)}\n```"
    if block.startswith("    "):
        return f"```text\n{textwrap.dedent(block)}\n```"
    if block.startswith("```"):
        return block
    return paragraph(block.removesuffix("::").rstrip(), names)


def fields(text: str, names: frozenset[str], title: str) -> str:
    """Parameters and what is returned, as a list: `name : type` and what it means, indented."""
    items = re.split(r"\n(?=\S)", text.strip("\n"))
    return "\n".join(_field(item, names, title) for item in items)


def _field(item: str, names: frozenset[str], title: str) -> str:
    head, _, meaning = item.partition("\n")
    name, colon, kind = head.partition(" : ")
    # The result is described in words.
    shown = f"*{name}*" if title == "Returns" else f"**`{name}`**"
    shown += f" ({_kind(kind)})" if colon else ""
    told = textwrap.dedent(meaning).strip()
    return f"- {shown}: {paragraph(' '.join(told.split()), names)}" if told else f"- {shown}"


def _kind(kind: str) -> str:
    word, _, value = kind.partition("default ")
    return f"{word}default `{value}`" if value else kind


def markdown(thing: Any, names: frozenset[str]) -> str:
    """The docstring of a function, class or module as Markdown."""
    parts = sections(inspect.getdoc(thing) or "")
    written = [prose(parts.pop(""), names)]
    for title, body in parts.items():
        text = prose(body, names) if title in {"Examples", "References"} else fields(body, names, title)
        written.append(f"**{title}**\n\n{text}")
    return "\n\n".join(written)


def signature(name: str, function: Callable[..., Any]) -> str:
    """A call with its parameters and their defaults, one a line where they are many."""
    parameters = list(inspect.signature(function).parameters.values())
    shown = [str(each.replace(annotation=inspect.Parameter.empty)) for each in parameters]
    keyword = next((place for place, each in enumerate(parameters) if each.kind is each.KEYWORD_ONLY), None)
    if keyword is not None and not any(each.kind is each.VAR_POSITIONAL for each in parameters):
        shown.insert(keyword, "*")
    line = f"{name}({', '.join(shown)})"
    return line if len(line) <= 100 else f"{name}(\n" + "".join(f"    {each},\n" for each in shown) + ")"


def table(frame: pl.DataFrame) -> str:
    """A frame as a Markdown table; its texts are Markdown."""
    rows = [[_cell(value) for value in row] for row in frame.iter_rows()]
    lines = [frame.columns, ["---"] * frame.width, *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell(value: Any) -> str:
    shown = f"{value:.4f}" if isinstance(value, float) else str(value)
    return shown.replace("|", "\\|").replace("\n", " ")
