"""Docstrings as Markdown: numpydoc's sections become lists and blocks, and public names become links."""

import inspect
import re
import textwrap
from collections.abc import Callable, Iterable, Iterator
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
    if not told:
        return f"- {shown}"
    # Paragraphs, and the items of a list, stay apart.
    blocks = [" ".join(block.split()) for block in re.split(r"\n\s*\n|\n(?=- )", told)]
    text = textwrap.indent("\n\n".join(paragraph(block, names) for block in blocks), "  ")
    return f"- {shown}:\n\n{text}" if text.startswith("  - ") else f"- {shown}: {text.lstrip()}"


def _kind(kind: str) -> str:
    word, _, value = kind.partition("default ")
    return f"{word}default `{value}`" if value else kind


def markdown(thing: Any, names: frozenset[str], *, summary: bool = True) -> str:
    """The docstring of a function, class or module as Markdown, with its summary or without."""
    parts = sections(inspect.getdoc(thing) or "")
    text = parts.pop("")
    written = [prose(text if summary else text.partition("\n\n")[2], names)]
    for title, body in parts.items():
        text = prose(body, names) if title in {"Examples", "References"} else fields(body, names, title)
        written.append(f"**{title}**\n\n{text}")
    return "\n\n".join(written)


def summary_of(thing: Any, names: frozenset[str]) -> str:
    """The first paragraph of a docstring as Markdown."""
    return paragraph(" ".join((inspect.getdoc(thing) or "").partition("\n\n")[0].split()), names)


class _Type(str):
    """A type as it is written, which a signature shows without quotation marks."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


#: What a result is annotated with that a checker cannot know.
UNKNOWN = {"Any", "EagerFrameT", "FrameT"}


def declaration(name: str, function: Callable[..., Any]) -> str:
    """A call with its parameters, their types and defaults, and the type of its result."""
    called = inspect.signature(function)
    kinds = [each.replace(annotation=_typed(each.annotation)) for each in called.parameters.values()]
    result = _typed(called.return_annotation)
    text = f"{name}{called.replace(parameters=kinds, return_annotation=called.empty if result in UNKNOWN else result)}"
    return re.sub(r"\b(collections\.abc|typing)\.", "", text)


def _typed(annotation: Any) -> Any:
    return _Type(annotation) if isinstance(annotation, str) else annotation


def index_entries(words: Iterable[str]) -> str:
    """Entries of the index, which the search finds first."""
    return f"```{{index}} {', '.join(f'!{word}' for word in words)}\n```"


def table(frame: pl.DataFrame) -> str:
    """A frame as a Markdown table; its texts are Markdown."""
    rows = [[_cell(value) for value in row] for row in frame.iter_rows()]
    lines = [frame.columns, ["---"] * frame.width, *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell(value: Any) -> str:
    shown = f"{value:.4f}" if isinstance(value, float) else str(value)
    return shown.replace("|", "\\|").replace("\n", " ")
