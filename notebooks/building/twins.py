"""What machines read: a Markdown twin of each page, `llms.txt` with their list, `llms-full.txt` with their texts."""

from pathlib import Path
from typing import Any

import nbformat

ABSTRACT = "> Information-retrieval evaluation as a Polars namespace: `run.ir.ndcg(qrels, k=10)`."


def markdown_of(path: Path) -> str:
    """A page as Markdown; of a notebook the cells, and what they show as text."""
    if path.suffix == ".md":
        return path.read_text(encoding="utf-8")
    notebook = nbformat.read(path, as_version=4)
    return "\n\n".join(_cell(cell) for cell in notebook.cells) + "\n"


def _cell(cell: Any) -> str:
    if cell.cell_type != "code":
        return str(cell.source)
    shown = "".join(_text(output) for output in cell.outputs).rstrip()
    return f"```python\n{cell.source}\n```" + (f"\n\n```text\n{shown}\n```" if shown else "")


def _text(output: Any) -> str:
    """What an output shows as text; of a chart nothing but that there is one."""
    if output.output_type == "stream":
        return str(output.text)
    if any(kind.startswith("image/") for kind in output.data):
        return "[chart]\n"
    return f"{output.data.get('text/plain', '')}\n"


def write(app: Any, failure: Exception | None) -> None:
    """Write the twins beside the pages, once these are built."""
    if failure or app.builder.name != "html":
        return
    site, env = Path(app.outdir), app.env
    listed = [f"# {app.config.html_title}", ABSTRACT]
    whole = list(listed)
    lines = []
    for name in sorted(env.found_docs, key=lambda name: (name.startswith("reference/"), name)):
        text = markdown_of(Path(env.doc2path(name)))
        twin = site / f"{name}.md"
        twin.parent.mkdir(parents=True, exist_ok=True)
        twin.write_text(text, encoding="utf-8")
        lines.append(f"- [{env.titles[name].astext()}]({name}.md)")
        whole.append(f"<!-- {name}.md -->\n\n{text}")
    (site / "llms.txt").write_text("\n\n".join([*listed, "## Pages", "\n".join(lines)]) + "\n", encoding="utf-8")
    (site / "llms-full.txt").write_text("\n\n".join(whole), encoding="utf-8")


def setup(app: Any) -> dict[str, bool]:
    """Write the twins at the end."""
    app.connect("build-finished", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
