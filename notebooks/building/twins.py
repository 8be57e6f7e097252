"""Pages for machines: a Markdown twin of each page, `llms.txt` with their list, `llms-full.txt` with their texts."""

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

ABSTRACT = "> Information-retrieval evaluation as a Polars namespace: `run.ir.ndcg(qrels, k=10)`."


#: HTML within a page: the chart of an example.
RAW = re.compile(r"```\{raw\} html\n.*?\n```", re.DOTALL)


def markdown_of(path: Path) -> str:
    """A page as Markdown; of a notebook the cells, and what they show as text."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        return RAW.sub("[chart]", text)
    return "\n\n".join(_cell(cell) for cell in json.loads(text)["cells"]) + "\n"


def _cell(cell: Mapping[str, Any]) -> str:
    source = "".join(cell["source"])
    if cell["cell_type"] != "code":
        return source
    shown = "".join(_text(output) for output in cell["outputs"]).rstrip()
    return f"```python\n{source}\n```" + (f"\n\n```text\n{shown}\n```" if shown else "")


def _text(output: Mapping[str, Any]) -> str:
    """An output as text; of a chart nothing but that there is one."""
    if output["output_type"] == "stream":
        return "".join(output["text"])
    if any(kind.startswith("image/") for kind in output["data"]):
        return "[chart]\n"
    return "".join(output["data"].get("text/plain", "")) + "\n"


def reading_order(includes: Mapping[str, Sequence[str]], page: str = "index") -> list[str]:
    """The pages as a reader meets them: each before those that it lists."""
    return [page, *(name for listed in includes.get(page, ()) for name in reading_order(includes, listed))]


def first_words(text: str) -> str:
    """The first paragraph of a page, in one line."""
    blocks = (block.strip() for block in text.split("\n\n"))
    first = next((block for block in blocks if block[:1].isalnum() or block[:1] == "["), "")
    return " ".join(first.split())


def write(app: Any, failure: Exception | None) -> None:
    """Write the twins beside the pages, once these are built."""
    if failure or app.builder.name != "html":
        return
    site, env = Path(app.outdir), app.env
    head = f"# {app.config.html_title}\n\n{ABSTRACT}"
    lines, whole = [], [head]
    for name in reading_order(env.toctree_includes):
        text = markdown_of(Path(env.doc2path(name)))
        twin = site / f"{name}.md"
        twin.parent.mkdir(parents=True, exist_ok=True)
        twin.write_text(text, encoding="utf-8")
        lines.append(f"- [{env.titles[name].astext()}]({name}.md): {first_words(text)}")
        whole.append(f"<!-- {name}.md -->\n\n{text}")
    (site / "llms.txt").write_text(f"{head}\n\n## Pages\n\n{chr(10).join(lines)}\n", encoding="utf-8")
    (site / "llms-full.txt").write_text("\n\n".join(whole), encoding="utf-8")


def setup(app: Any) -> dict[str, bool]:
    """Write the twins at the end."""
    app.connect("build-finished", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
