"""The reference: an entry for every public name, measure, option, format, command and extra, from their records."""

import argparse
import doctest
import inspect
import re
import shutil
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, is_typeddict

import polars as pl

import polars_ir as ir
from building import charts, doors, measure_pages, way
from building.docstrings import declaration, index_entries, markdown, paragraph, summary_of, table
from polars_ir import answers, fusion, per_query, plots, runs, spark
from polars_ir.cli import PROGRAMS
from polars_ir.cli.commands import COMMANDS
from polars_ir.cli.parser import parser
from polars_ir.files.formats import FORMATS
from polars_ir.language.options import Option, options_of

PROJECT = Path(ir.__file__).parents[1] / "pyproject.toml"

#: The columns of the judged relation, and what else is an expression, in a sentence.
EXPRESSIONS = {
    "rank": "The 1-based place in the run; null where the document was not retrieved.",
    "ideal_rank": "The 1-based place in the ideal ranking, which has the judged documents by falling grade.",
    "relevance": "The grade; null where a measure sees unjudged documents, too.",
    "n_retrieved": "How many documents the run returned for the query.",
    "gained": "In a continuation of `user_model`: the gain of the document at this position.",
    "cumulated": "In a continuation of `user_model`: the gain from the top down to this position.",
    "place": "In a continuation of `user_model`: the position, counted from 1.",
}

#: The commands that stand in for other programs.
STANDING_IN = {
    "trec_eval": "What trec_eval 10 does, with its options and its output; [what differs](../trec_eval.md).",
    "ir_measures": "What the command of ir_measures does, with its options and its output.",
}

#: The note on calls whose options are in part those of others.
MORE = " They are these, beside some of those above."

#: The features of extras.
ADDED = {
    "pandas": "pandas and pyarrow: `.ir` on pandas frames, and pandas frames as input.",
    "stats": "SciPy and statsmodels: tests, corrections and resampled intervals (`compare`, `gate`, `power`, ...).",
    "plot": "Altair and vl-convert: `.ir.plot`, and charts saved as PNG, SVG or HTML.",
    "table": "great_tables: `.ir.table()` as a table for publication.",
    "spark": "PySpark 4: `polars_ir.spark`. It is large, and no part of `all`.",
    "datasets": "ir_datasets: `ir.datasets.from_ir_datasets`.",
    "twins": "rensa and numpy: `ir.twins` of documents with nearly the same text.",
    "cli": "argcomplete and tqdm: the shell completes `polars-ir`, and a bar shows the progress over files.",
    "all": "Every extra that is for use, but Spark.",
    "test": "What the tests need, with the tools that figures are compared with.",
    "lint": "ruff, mypy, and what runs the notebooks.",
    "docs": "Sphinx and what builds this book.",
    "bench": "What the benchmark compares with.",
}


def public(module: Any) -> dict[str, Any]:
    """The public names of a module."""
    return {name: getattr(module, name) for name in module.__all__}


#: Words that are searched for, by the function that they lead to.
SEARCHED = {
    "agreement": ("Cohen's kappa", "Krippendorff's alpha", "LLM as a judge", "inter-annotator agreement"),
    "compare": ("significance", "t-test", "p-value", "confidence interval", "effect size"),
    "evaluate": ("metrics", "evaluation"),
    "gate": ("continuous integration", "regression test", "non-inferiority"),
    "power": ("sample size",),
    "from_lists": ("RAG", "lists of documents"),
    "read_log": ("RAG", "ragas", "LangChain", "LlamaIndex", "Haystack", "OpenTelemetry", "agents"),
    "nugget_recall": ("TREC RAG", "nuggetizer"),
    "qrels_from_spans": ("chunks", "character spans", "chunking"),
    "relabel": ("new chunker", "moved labels"),
    "fuse": ("reciprocal rank fusion", "hybrid search"),
    "deduplicate": ("duplicates", "MaxP"),
    "ranks": ("leaderboard",),
    "table": ("LaTeX", "publication table"),
    "validate": ("data quality", "missing judgments"),
}


def pages() -> dict[str, tuple[str, str, dict[str, Any]]]:
    """The pages of groups: file, title, a sentence, and the names with what they stand for, each once."""
    rest = public(ir)
    measures = {spec.function.__name__ for spec in ir.CATALOG.values()}
    taken = {name: rest.pop(name) for name in measures & rest.keys()}
    del taken

    def take(names: Iterable[str]) -> dict[str, Any]:
        return {name: rest.pop(name) for name in names if name in rest}

    of_judges = ("judgments", "agreement", "merge_judgments")
    words = ("measure", "catalog", "parse", "CATALOG", *EXPRESSIONS, "relevant", "gain", "hits", "n_relevant", "top")
    return {
        "runs": (
            "Functions of a run",
            "Evaluation of runs, and what is done with their rankings.",
            take([*(name for name in runs.__all__ if name != "update"), "stages"]),
        ),
        "per_query": (
            "Functions of a per-query frame",
            "Means, tests, gates and tables of what `evaluate` returns, a row per query.",
            take([*per_query.__all__, "table", "update"]),
        ),
        "fusion": (
            "Fusion",
            "One run of several, the weights that are best, and what each run adds.",
            take(["fuse", "tune_fusion", "complementarity", "contribution"]),
        ),
        "answers": (
            "Answers",
            "Files of judged answers, and figures of their nuggets and citations for each query.",
            take(answers.__all__),
        ),
        "files": (
            "Functions of files",
            "Readers and writers of runs and judgments, in memory and lazily.",
            take([n for n in list(rest) if n.startswith(("read_", "scan_", "sink_", "write_"))]),
        ),
        "words": (
            "Words for measures",
            "The catalogue, and the expressions that measures of your own are made of.",
            take([*words, "ratio", "or_zero", "if_relevant", "relevance_string"]),
        ),
        "data": (
            "Data and judgments",
            "Test collections, runs and judgments from lists, judgments of several judges, and splits of logs.",
            take(
                [
                    *of_judges,
                    "datasets",
                    "from_lists",
                    "read_log",
                    "qrels_from_spans",
                    "relabel",
                    "overlap",
                    "split",
                    "twins",
                ]
            ),
        ),
        "errors": ("Errors", "The base of all errors, and the class of all warnings.", take(["IRError", "IRWarning"])),
        "other": ("Other names", "Modules, typed access to `.ir`, and two rankings side by side.", rest),
    }


def write(folder: Path) -> None:
    """Write the reference into a folder."""
    functions = folder / "functions"
    functions.mkdir(parents=True, exist_ok=True)
    names = frozenset(ir.__all__) - {"CATALOG"}  # targets of links are the same in capitals
    measure_pages.write(folder / "measures", names)
    groups = {
        name: (title, told, {f"ir.{n}": thing for n, thing in held.items()})
        for name, (title, told, held) in pages().items()
    }
    groups["fusion"][2].update(own_names("fusion", fusion))
    groups["data"][2].update(own_names("datasets", ir.datasets))
    groups["plots"] = ("Charts", (inspect.getdoc(plots) or "").partition("\n\n")[0], own_names("plots", plots))
    texts = {name: group_page(functions, *group, names) for name, group in groups.items() if group[2]}
    texts["spark"] = spark_page(functions, names)
    texts["elsewhere"] = measure_pages.by_tool([spec for spec in ir.CATALOG.values() if spec.ours])
    texts |= {"options": options_page(names), "formats": formats_page(names), "commands": commands_page()}
    texts["extras"] = extras_page(
        tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    )
    texts["changes"] = (PROJECT.parent / "CHANGELOG.md").read_text(encoding="utf-8")
    doors.draw(folder / "doors")
    texts["contributing"] = contributing_page(way.draw(folder / "way.svg"))
    for name, text in texts.items():
        (folder / f"{name}.md").write_text(text, encoding="utf-8")
    (folder / "index.md").write_text(index(list(texts)), encoding="utf-8")


def _full(held: Mapping[str, Any]) -> dict[str, Any]:
    return {f"ir.{name}": thing for name, thing in held.items()}


def own_names(name: str, module: Any) -> dict[str, Any]:
    """The names of a module that stand for something else than in the package, or that only it has."""
    own = {each: thing for each, thing in public(module).items() if thing is not getattr(ir, each, None)}
    return {f"ir.{name}.{each}": thing for each, thing in own.items()}


def group_page(folder: Path, title: str, told: str, held: Mapping[str, Any], names: frozenset[str]) -> str:
    """The page of a group, with a table of its names; each function and class has a page of its own, in the folder."""
    own = {name: thing for name, thing in held.items() if inspect.isfunction(thing) or isinstance(thing, type)}
    for name, thing in own.items():
        (folder / f"{name.removeprefix('ir.')}.md").write_text(own_page(name, thing, names), encoding="utf-8")
    rows = [(f"[`{name}`](#{name})", summary_of(thing, names)) for name, thing in own.items()]
    listed = table(pl.DataFrame(rows, schema=["name", "meaning"], orient="row"))
    tree = "\n".join(f"functions/{name.removeprefix('ir.')}" for name in own)
    parts = [f"# {title}", paragraph(told, names), listed, f"```{{toctree}}\n:hidden:\n\n{tree}\n```"]
    parts = parts if own else parts[:2]
    return "\n\n".join([*parts, *(entry(name, thing, names) for name, thing in held.items() if name not in own)]) + "\n"


def own_page(name: str, thing: Any, names: frozenset[str]) -> str:
    """The page of a function or class, an object of Sphinx's Python domain."""
    short, is_class = name.rpartition(".")[2], isinstance(thing, type)
    full = name.replace("ir.", "polars_ir.", 1)
    declared = full if is_class else declaration(full, thing)
    return "\n\n".join(
        [
            f"({name})=\n# {short}",
            index_entries([short, *SEARCHED.get(short, ())]),
            summary_of(thing, names),
            *([example_chart(thing)] if name.startswith("ir.plots.") else []),
            (
                f"`````{{py:{'class' if is_class else 'function'}}} {declared}\n\n"
                f"{markdown(thing, names, summary=False)}\n`````\n"
            ),
        ]
    )


def example_chart(function: Any) -> str:
    """The chart that the example of a function draws."""
    space: dict[str, Any] = {}
    for example in doctest.DocTestParser().get_examples(inspect.getdoc(function) or ""):
        if not example.want:
            exec(example.source, space)  # noqa: S102  # an example of the package's own
    return charts.of_chart(space["chart"], f"The chart of the example of {function.__name__}")


def entry(name: str, thing: Any, names: frozenset[str]) -> str:
    """The meaning of a name that is neither function nor class."""
    head = f"## {name}" if name == "ir.CATALOG" else f"({name})=\n## {name}"
    if isinstance(thing, pl.Expr):
        return f"{head}\n\nAn expression. {EXPRESSIONS[name.removeprefix('ir.')]}"
    if inspect.ismodule(thing):
        return f"{head}\n\n{markdown(thing, names)}"
    return f"{head}\n\n{constant(name.rpartition('.')[2], thing)}"


def constant(name: str, thing: Any) -> str:
    """The object of a name that is neither function nor class."""
    if name == "CATALOG":
        return "Every measure by its name: a dict of records. [`ir.catalog()`](#ir.catalog) is it as a frame."
    if name == "DIALECTS":
        rows = [(each.product, f"`{each.name}`", each.formula) for each in thing]
        return table(pl.DataFrame(rows, schema=["product", "name", "formula"], orient="row"))
    shown = [each if isinstance(each, str) else each.__name__ for each in thing]
    return ", ".join(f"`{each}`" for each in shown)


def spark_page(folder: Path, names: frozenset[str]) -> str:
    """The page of Spark; its docstring has titles of its own."""
    first, *rest = re.split(r"\n\n(?=How it goes|On a cluster)", inspect.getdoc(spark) or "")
    shown = ["# Spark", first]
    for section in rest:
        title, _, body = section.partition("\n")
        shown.append(f"## {title}\n\n{inspect.cleandoc(body)}")
    _, _, listed = group_page(folder, "Spark", "", own_names("spark", spark), names).partition("\n\n\n\n")
    return "\n\n".join([*shown, "## Functions", listed])


def kinds_of_options() -> list[type]:
    """The kinds of calls that take options, each with its records, in the order of their modules."""
    return [
        thing
        for module in (runs.options, per_query.shared.options)
        for thing in vars(module).values()
        if is_typeddict(thing) and thing.__module__ == module.__name__
    ]


def options_page(names: frozenset[str]) -> str:
    """The options, from their records: each where it is met first."""
    parts = ["# Options"]
    known: list[tuple[str, Option]] = []
    for kind in kinds_of_options():
        new = [(name, option) for name, option in options_of(kind).items() if (name, option) not in known]
        known += new
        parts.append(f"## {kind.__name__}\n\n{inspect.getdoc(kind)}{MORE if len(new) < len(options_of(kind)) else ''}")
        parts.extend(
            f"(option.{kind.__name__}.{name})=\n### {name}\n\nDefault `{option.default!r}`; "
            f"{paragraph(option.value.wanted, names)}.\n\n{paragraph(option.meaning, names)}"
            for name, option in new
        )
    return "\n\n".join(parts) + "\n"


def formats_page(names: frozenset[str]) -> str:
    """The formats of files, from their records."""
    parts = ["# Formats", "`read_run`, `scan_run`, `read_qrels` and `scan_qrels` take these; `format=` names one."]
    for each in FORMATS:
        known = ", ".join(f"`{extension}`" for extension in each.extensions) or "none; `format=` says it"
        written = ", ".join(role for role in ("run", "qrels") if role in each.writer.frames or each.writer.table)
        holds = "\n".join(f"- {role}: {paragraph(words, names)}" for role, words in each.holds.items())
        examples = "\n\n".join(f"```text\n{text.rstrip()}\n```" for text in each.examples.values())
        facts = f"{holds}\n- extensions: {known}\n- written: {written or 'no'}"
        parts.append(f"(format.{each.name})=\n## {each.name}\n\n{facts}\n\n{examples}".rstrip())
    return "\n\n".join(parts) + "\n"


def commands_page() -> str:
    """The commands of the shell, as they print their help."""
    whole = parser(COMMANDS, PROGRAMS)
    (chosen,) = (action for action in whole._actions if isinstance(action, argparse._SubParsersAction))  # noqa: SLF001  # argparse has no other list of them
    parts = ["# Commands", "`polars-ir COMMAND --help` prints these."]
    for name, each in chosen.choices.items():
        shown = STANDING_IN[name] if name in PROGRAMS else f"```text\n{_help(each)}\n```"
        parts.append(f"(command.{name})=\n## polars-ir {name}\n\n{shown}")
    return "\n\n".join(parts) + "\n"


def _help(command: argparse.ArgumentParser) -> str:
    command.formatter_class = _wide
    return command.format_help().rstrip()


def _wide(prog: str) -> argparse.HelpFormatter:
    """Help of the same width wherever the book is built."""
    return argparse.HelpFormatter(prog, width=88)


def extras_page(extras: Mapping[str, list[str]]) -> str:
    """The extras, from the project's own list."""
    parts = ["# Extras", "The package itself needs Polars alone. What needs more says which extra to install."]
    for name, needs in extras.items():
        shown = ", ".join(f"`{each}`" for each in needs)
        command = f"```console\n$ pip install '.[{name}]'\n```"
        parts.append(f"(extra.{name})=\n## {name}\n\n{command}\n\n{ADDED[name]} It installs {shown}.")
    return "\n\n".join(parts) + "\n"


def contributing_page(picture: str) -> str:
    """The page for contributors, in which the way of a call through the code is drawn."""
    text = (PROJECT.parent / ".github" / "CONTRIBUTING.md").read_text(encoding="utf-8")
    before, heading, after = text.partition("\n## To add\n")
    counted = "`python tests/support/ways.py` counts it, and the ways of other calls."
    return f"{before}\n{picture}\n\n{counted}\n{heading}{after}"


def index(files: list[str]) -> str:
    """The first page of the reference."""
    listed = "\n".join(["measures/index", *files])
    return (
        "# Reference\n\nGenerated from the package as the book is built: every public name, measure, option, format, "
        f"command and extra. [Index](genindex) has them by letter.\n\n```{{py:module}} polars_ir\n```\n\n"
        f"```{{toctree}}\n:maxdepth: 1\n\n{listed}\n```\n"
    )


def setup(app: Any) -> dict[str, bool]:
    """Write the reference before Sphinx looks for pages."""
    app.connect("builder-inited", _write_beside)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _write_beside(app: Any) -> None:
    folder = Path(app.srcdir) / "reference"
    # The names of an earlier build may be gone from the package.
    shutil.rmtree(folder, ignore_errors=True)
    write(folder)
