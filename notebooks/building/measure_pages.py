"""A page for each measure, from its record, its docstring, and values computed as the book is built."""

import ast
import functools
import inspect
import re
import tomllib
from pathlib import Path

import polars as pl

import polars_ir as ir
from building import pictures
from building.docstrings import declaration, index_entries, paragraph, prose, sections, table
from building.rankings import CASES, FIXED, FIXED_GRADE, LENGTH, evaluated, shown
from polars_ir.language.catalog import SPELLING, MeasureInfo

FORMULAS = tomllib.loads((Path(__file__).parent / "formulas.toml").read_text(encoding="utf-8"))

#: The columns that measures read, in words.
JUDGMENTS = {
    "documents": "grades of documents",
    "subtopics": "grades of documents for each subtopic",
    "preferences": "preferences between documents",
    "documents and history": "grades of documents, and the history of users",
    "documents and strata": "grades of documents, and their strata in the pool",
    "none": "no judgments, but the history of users, or the items there are",
}

#: The kinds of measures of a recommender's lists.
OF_LISTS = ("none", "documents and history")

#: The headings of tables of measures that are not called as what they read.
HEADINGS = {"none": "Lists of recommenders"}

#: A formula in a docstring, which the page has in mathematical notation.
PLAIN_FORMULA = re.compile(r"::\n\n(    .*\n?)+")


def file_of(info: MeasureInfo) -> str:
    """The name of a measure's page: that of its function, which differs from others in more than capitals."""
    return info.function.__name__


def write(folder: Path, names: frozenset[str]) -> None:
    """Write the page and the picture of every measure, and the page that lists them."""
    folder.mkdir(parents=True, exist_ok=True)
    measures = [info for info in ir.CATALOG.values() if info.ours]
    for info in measures:
        drawn = pictures.draw(info, folder / f"{file_of(info)}.svg")
        (folder / f"{file_of(info)}.md").write_text(page(info, drawn, names), encoding="utf-8")
    (folder / "index.md").write_text(listing(measures), encoding="utf-8")


def page(info: MeasureInfo, drawn: str, names: frozenset[str]) -> str:
    """The page of a measure, with its picture."""
    function = info.function.__name__
    parts = sections(inspect.getdoc(info.function) or "")
    meaning, _, told = parts[""].partition("\n")
    told = PLAIN_FORMULA.sub("", told, count=1).strip()
    call = declaration(f"polars_ir.{function}", info.function)
    column = shown(info).meta.output_name()
    written = [
        f"(ir.{function})=\n(measure.{info.name})=\n# {info.name}",
        searched(info),
        paragraph(meaning, names),
        f"```{{math}}\n{FORMULAS[info.name]}\n```",
        prose(told, names),
        facts(info),
        f"{picture(info)}\n\n{drawn}",
        f"## Example\n\n```pycon\n{parts['Examples']}\n```",
        on_pydocs(info),
        f"## Parameters\n\n````{{py:function}} {call}\n\n{parameters(info, names)}\n````",
        f"## Edge cases\n\nOf `{column}`, computed as this page was built:\n\n{edge_cases(info)}",
        f"## In other tools\n\n{elsewhere(info)}",
        f"## Source\n\n{paragraph(info.source, names)}",
    ]
    return "\n\n".join(part for part in written if part) + "\n"


def searched(info: MeasureInfo) -> str:
    """Entries of the index: the names of a measure here and in other tools, alone, with a cutoff, and as words."""
    elsewhere = (name for text in info.also.values() for name, _ in SPELLING.findall(text))
    names = [info.name, info.function.__name__, *elsewhere]
    words = [name.replace("_", " ") for name in names if "_" in name]
    names += [f"{name}@k" for name in names] if info.at == "k" else []
    names += words
    return index_entries({name.lower(): name for name in reversed(names)}.values())


def facts(info: MeasureInfo) -> str:
    """Range, best value, what it reads, and what ties and more judgments do to it."""
    low, high, best = (f"{value:.3g}".replace("inf", "infinity") for value in (*info.bounds, info.best))
    way = "fall" if info.best >= info.bounds[1] else "rise"
    exact = f"the value cannot {way}, so that `bounds=True` is exact"
    order = "is the exact mean over all orders of tied documents" if info.expected else "is not available"
    rows = [
        ("range", f"{low} to {high}; the best value is {best}"),
        ("reads", JUDGMENTS[info.kind]),
        ("mean over queries", info.average),
        ("ties", f'`ties="expected"` {order}'),
        ("when a grade rises", exact if info.monotone else "the value can rise or fall"),
    ]
    return table(pl.DataFrame(rows, schema=["property", "value"], orient="row"))


def picture(info: MeasureInfo) -> str:
    """The picture of a measure, with what it shows."""
    subtopic = " All documents are of one subtopic." if info.kind == "subtopics" else ""
    return (
        "## How it moves with rank and grade\n\n"
        f"One document goes down a ranking of {LENGTH}. The others are judged not relevant, except one of grade "
        f"{FIXED_GRADE}, the {FIXED}th of the others.{subtopic} Each line is a grade of the moving document; grades "
        "with equal values share a line."
    )


@functools.cache
def _pydocs() -> tuple[pl.DataFrame, pl.DataFrame]:
    """The bundled runs and their judgments."""
    collection = ir.datasets.load("pydocs")
    return collection.runs, collection.qrels


def on_pydocs(info: MeasureInfo) -> str:
    """The means of the bundled systems, for measures of documents."""
    if info.kind != "documents":
        return ""
    runs, qrels = _pydocs()
    column = shown(info).meta.output_name()
    means = ir.evaluate(runs, qrels, shown(info)).ir.mean().with_columns(pl.col(column).cast(pl.Float64))
    code = f'pydocs = ir.datasets.load("pydocs")\nir.evaluate(pydocs.runs, pydocs.qrels, "{column}").ir.mean()'
    return f"On the bundled collection:\n\n```python\n{code}\n```\n\n{table(means)}"


def parameters(info: MeasureInfo, names: frozenset[str]) -> str:
    """The parameters, their meaning and their values."""
    if not info.parameters:
        return "None."
    return "\n".join(
        f"- **`{name}`** (default `{default!r}`): {paragraph(info.options[name].meaning, names)}"
        for name, default in info.parameters.items()
    )


def edge_cases(info: MeasureInfo) -> str:
    """The value of a measure in each case at the edge."""
    values = evaluated(info, CASES, undefined=None)
    # Measures of lists stay null, whatever is undefined.
    null = "null" if info.kind in OF_LISTS else "undefined: 0, or null with `undefined=None`"
    rows = [(name, null if values[name] is None else _value(values[name])) for name in CASES]
    return table(pl.DataFrame(rows, schema=["case", "value"], orient="row"))


def _value(value: object) -> str:
    return f"{value:.4f}" if isinstance(value, float) else str(value)


def elsewhere(info: MeasureInfo) -> str:
    """The names of the measure in other tools."""
    if not info.also:
        return "No tool known to this package computes it."
    rows = [(tool, ", ".join(f"`{name}`" for name in names.split())) for tool, names in info.also.items()]
    note = "Brackets hold the parameters that a name stands for. `ir.parse` reads every one of these names."
    return f"{table(pl.DataFrame(rows, schema=['tool', 'name there'], orient='row'))}\n\n{note}"


#: The text above the tables of names.
BY_TOOL = (
    "What each measure is called in each tool, and the name of its column here. Cutoffs follow as they do there "
    "(`ndcg_cut_10`, `hit_rate@5`, `NDCG@10`). [`ir.parse`](#ir.parse) reads all of them. Where two tools mean "
    "different measures by one name, it means what ir_measures means. The page of a measure says where values differ."
)

#: The text above the tables of measures.
INTRODUCTION = (
    "Names are those of ir_measures, so that a header says what was computed: `nDCG@10`, `P(rel=2)@5`. "
    "[`ir.parse`](#ir.parse) reads the spellings of trec_eval, ir_measures, ranx, BEIR, MTEB, RecTools, "
    "torchmetrics and others (`ndcg_cut_10`, `iprec_at_recall_0.10`, `ndcg@10-l2`, `NDCG@10`, `RetrievalMAP`) and "
    "gives back one name. A word that two tools use for two measures means what ir_measures means by it: "
    "`Accuracy@k` is pairwise; BEIR's is `Success@k`. [`ir.catalog()`](#ir.catalog) is these tables as a frame. "
    "`relstring_10` of trec_eval is a text to look at, [`ir.relevance_string`](#ir.relevance_string). "
    "[Names in other tools](../elsewhere.md) lists all names by tool."
)


def by_tool(measures: list[MeasureInfo]) -> str:
    """The page of the names that other tools use, a table for each tool."""
    told = [
        (
            tool,
            name,
            info.column(info.parameters | _given(given)) if given and not given.isidentifier() else info.name,
            info,
        )
        for info in measures
        for tool, names in info.also.items()
        for name, given in SPELLING.findall(names)
    ]
    parts = ["# Names in other tools", BY_TOOL]
    for tool in dict.fromkeys(each[0] for each in told):
        rows = [(f"`{name}`", f"[{column}](#ir.{file_of(info)})") for of, name, column, info in told if of == tool]
        listed = table(pl.DataFrame(rows, schema=["name there", "name here"], orient="row"))
        parts.append(f"(tool.{tool})=\n## {tool}\n\n{listed}")
    return "\n\n".join(parts) + "\n"


def _given(text: str) -> dict[str, object]:
    """The parameters that a name of another tool stands for: `k=10,denominator='R'`."""
    pairs = (pair.split("=") for pair in re.findall(r"\w+=(?:'[^']*'|[^,]+)", text))
    return {name: ast.literal_eval(value) for name, value in pairs}


def listing(measures: list[MeasureInfo]) -> str:
    """The page that lists all measures, by what they read."""
    parts = [
        "# Measures",
        INTRODUCTION,
    ]
    for kind in JUDGMENTS:
        rows = [
            (f"[{info.name}](#ir.{file_of(info)})", f"{paragraph(info.meaning, frozenset())} `ir.{file_of(info)}`")
            for info in measures
            if info.kind == kind
        ]
        listed = table(pl.DataFrame(rows, schema=["name", "meaning"], orient="row"))
        parts += [f"## {HEADINGS.get(kind, kind.capitalize())}", *([NOTES[kind]] if kind in NOTES else []), listed]
    pages = "\n".join(file_of(info) for info in measures)
    return "\n\n".join([*parts, f"```{{toctree}}\n:hidden:\n\n{pages}\n```"]) + "\n"


#: The notes before tables of measures.
NOTES = {
    "subtopics": 'The qrels have a column `subtopic`, as `ir.read_qrels("qrels.txt", format="subtopics")` reads it. '
    "`weights` names a column of the qrels. The measures whose names begin with `n` are divided by a greedy ideal "
    "ranking, which can be beaten, by less than 1.58. With lazy qrels they need a cutoff of at most 100.",
    "preferences": "The qrels say which of two documents a judge prefers, by levels (`doc_id`, `relevance`, optionally "
    "`judge` and `group`: trec_eval's prefs, or plain qrels) or as pairs (`preferred`, `other`). They are in memory.",
    "none": "`evaluate` takes the history of users and the items there are as `history=` and `items=`. Without "
    "judgments each list of the run has a row. Coverage and other measures of all lists together are none of one list.",
}
