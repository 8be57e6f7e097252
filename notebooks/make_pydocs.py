"""Make the pydocs test collection: the documents, three systems' runs, and the pool to judge.

The documents are the docstrings of the Python standard library, one for each module, public
class, function, method and property. They are read from the running interpreter and never
stored; the package ships only queries, grades and runs.

    python notebooks/make_pydocs.py runs                   write polars_ir/pydocs/runs.parquet
    python notebooks/make_pydocs.py runs other.parquet     write the same runs elsewhere
    python notebooks/make_pydocs.py pool unjudged.tsv      write what is left to judge

The shipped runs were made on Linux with Python 3.11.7, bm25s 0.3.16, scikit-learn 1.9.1,
numpy 2.4.6 and polars 2.1.0. Another Python version or platform has slightly different
docstrings, hence a slightly different corpus, other scores and some unjudged documents.
Documents were judged to pool depth 10: the union of every run's ten best documents, and
whatever else the assessor knew to be relevant.
"""

import argparse
import importlib
import inspect
import pkgutil
import re
import sys
import types
import warnings
from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path

import bm25s
import numpy as np
import polars as pl
from sklearn.feature_extraction.text import TfidfVectorizer

DATA = Path(__file__).resolve().parent.parent / "polars_ir" / "pydocs"
RUN_DEPTH = 100
POOL_DEPTH = 10
# As long as that of list.reverse; shorter ones say little ("An enumeration.").
SHORTEST_DOCSTRING = 19

# Left out: jokes and demonstrations, implementation details documented under another name
# (posixpath is walked as os.path), lists of codecs, modules other installed packages replace
# (distutils), and whatever is there only when Python was built with Tk.
SKIPPED_MODULES = {
    "antigravity",
    "distutils",
    "encodings",
    "ensurepip",
    "genericpath",
    "idlelib",
    "lib2to3",
    "nt",
    "ntpath",
    "nturl2path",
    "posix",
    "posixpath",
    "pydoc_data",
    "sre_compile",
    "sre_constants",
    "sre_parse",
    "this",
    "tkinter",
    "turtle",
    "turtledemo",
}
SKIPPED_SUBMODULES = {"test", "tests"}

Scores = np.ndarray
Preference = tuple[bool | int | str, ...]
System = Callable[[list[str], list[str]], Scores]


def import_quietly(name: str) -> types.ModuleType | None:
    """Import a module; None if this platform or build does not have it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            return importlib.import_module(name)
    except ImportError:
        return None


def public_modules() -> dict[str, types.ModuleType]:
    """Every public module of the standard library by name, submodules included."""
    modules = {"os.path": importlib.import_module("os.path")}
    waiting = sorted(sys.stdlib_module_names - SKIPPED_MODULES, reverse=True)
    while waiting:
        name = waiting.pop()
        last = name.rpartition(".")[2]
        if last.startswith("_") or last in SKIPPED_SUBMODULES:
            continue
        module = import_quietly(name)
        if module is None:
            continue
        modules[name] = module
        for child in pkgutil.iter_modules(getattr(module, "__path__", [])):
            waiting.append(f"{name}.{child.name}")
    return dict(sorted(modules.items()))


def underlying(thing: object) -> object:
    """The function behind a method, so that random.randint is Random.randint."""
    if isinstance(thing, (classmethod, staticmethod, types.MethodType)):
        return thing.__func__
    return thing


def docstring(thing: object) -> str:
    """The docstring of the thing itself, or of its constructor; an inherited one is a duplicate."""
    if isinstance(thing, type):
        constructor = vars(thing).get("__init__")
        if not inspect.isfunction(constructor):
            constructor = None
        text = vars(thing).get("__doc__") or getattr(constructor, "__doc__", "")
    else:
        text = getattr(thing, "__doc__", "")
    return inspect.cleandoc(text) if isinstance(text, str) else ""


def is_home(module_name: str, thing: object) -> bool:
    """True if the thing says it comes from this module or from inside this package.

    The part of a module that is written in C is named like it, with an underscore before.
    """
    home = (getattr(underlying(thing), "__module__", None) or "").removeprefix("_")
    return home == module_name or home.startswith(f"{module_name}.")


def exports(modules: dict[str, types.ModuleType]) -> Iterator[tuple[str, str, object]]:
    """Public (module name, name, class or function) triples, re-exports included."""
    for module_name, module in modules.items():
        listed = getattr(module, "__all__", list(vars(module)))
        # Some names, like concurrent.futures.ThreadPoolExecutor, appear only when asked for.
        for name in sorted({*vars(module), *listed}):
            thing = getattr(module, name, None)
            if name.startswith("_") or not (inspect.isclass(thing) or inspect.isroutine(thing)):
                continue
            if name in listed or is_home(module_name, thing):
                yield module_name, name, thing


def preference(thing: object, module_name: str, name: str, module: types.ModuleType) -> Preference:
    """Sort key that puts the name a programmer would write first.

    Built-in names come first; then where the thing is defined or the package around that
    place, asyncio.run rather than asyncio.runners.run; then a module that lists it in __all__;
    then the shortest name.
    """
    at_home = is_home(module_name, thing)
    dots = module_name.count(".")
    return (
        module_name != "builtins",
        not at_home,
        at_home and dots,
        name not in getattr(module, "__all__", []),
        name != getattr(thing, "__name__", name),
        dots,
        len(module_name),
        module_name,
        name,
    )


def members(thing: type) -> Iterator[tuple[str, object]]:
    """Public methods and properties of a class, inherited ones only from private bases."""
    for base in thing.__mro__:
        if base is not thing and not base.__name__.startswith("_"):
            continue
        for name, member in sorted(vars(base).items()):
            is_member = inspect.isroutine(member) or isinstance(member, (property, cached_property))
            if is_member and not name.startswith("_"):
                yield name, member


def documents() -> dict[str, str]:
    """Docstrings by document id, such as itertools.groupby, json or str.split, sorted by id."""
    modules = public_modules()
    found: dict[str, str] = {name: docstring(module) for name, module in modules.items()}
    names: dict[int, list[tuple[Preference, str]]] = {}
    things: dict[int, object] = {}
    for module_name, name, thing in exports(modules):
        things[id(underlying(thing))] = underlying(thing)
        key = preference(thing, module_name, name, modules[module_name])
        document_id = name if module_name == "builtins" else f"{module_name}.{name}"
        names.setdefault(id(underlying(thing)), []).append((key, document_id))

    classes: list[tuple[str, type]] = []
    for identity, choices in names.items():
        free = [document_id for _, document_id in sorted(choices) if document_id not in found]
        if free:
            thing = things[identity]
            found[free[0]] = docstring(thing)
            if isinstance(thing, type):
                classes.append((free[0], thing))

    # Of the classes that share a private base, the plainest one has its methods.
    for class_id, one in sorted(classes, key=lambda pair: (len(pair[1].__mro__), pair[0])):
        for name, member in members(one):
            identity = id(underlying(member))
            if identity not in things:
                things[identity] = underlying(member)
                found.setdefault(f"{class_id}.{name}", docstring(underlying(member)))
    return {document_id: text for document_id, text in sorted(found.items()) if len(text) >= SHORTEST_DOCSTRING}


def words_of(document_id: str) -> str:
    """The words of an id: concurrent.futures.ThreadPoolExecutor has five."""
    separated = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|[._]+", " ", document_id)
    return re.sub(r"(?<=[A-Z])(?=[A-Z][a-z])", " ", separated)


def bm25(texts: list[str], queries: list[str]) -> Scores:
    """BM25 as in Lucene, k1 = 1.5, b = 0.75, words of two letters or more, English stopwords."""
    options = {"stopwords": "en", "show_progress": False}
    index = bm25s.BM25(method="lucene", k1=1.5, b=0.75)
    index.index(bm25s.tokenize(texts, **options), show_progress=False)
    tokens = bm25s.tokenize(queries, return_ids=False, **options)
    return np.array([index.get_scores(words) for words in tokens])


def cosine(vectorizer: TfidfVectorizer, texts: list[str], queries: list[str]) -> Scores:
    """Cosines of the angles between queries and texts; the vectors have length one."""
    vectors = vectorizer.fit_transform(texts)
    return np.asarray((vectorizer.transform(queries) @ vectors.T).todense())


def tfidf(texts: list[str], queries: list[str]) -> Scores:
    """Cosine of word vectors weighted by (1 + log tf) * idf."""
    return cosine(TfidfVectorizer(sublinear_tf=True), texts, queries)


def chargrams(texts: list[str], queries: list[str]) -> Scores:
    """Cosine of vectors of the 3 to 5 character pieces of words, weighted by tf * idf."""
    return cosine(TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 5)), texts, queries)


SYSTEMS: dict[str, System] = {"bm25": bm25, "chargrams": chargrams, "tfidf": tfidf}


def read_queries() -> pl.DataFrame:
    """The shipped queries: query_id, text, category."""
    return pl.read_csv(DATA / "queries.tsv", separator="\t", quote_char=None)


def read_qrels() -> pl.DataFrame:
    """The shipped grades: query_id, doc_id, grade; none before judging has begun."""
    path = DATA / "qrels.txt"
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    rows = [(query, document, int(grade)) for query, _, document, grade in map(str.split, lines)]
    schema = {"query_id": pl.String, "doc_id": pl.String, "grade": pl.Int64}
    return pl.DataFrame(rows, schema=schema, orient="row")


def make_runs(corpus: dict[str, str], queries: pl.DataFrame) -> pl.DataFrame:
    """Each system's 100 best documents for each query, among those with a positive score.

    Scores are rounded to six decimals, so that they do not depend on the order in which a
    machine adds numbers. Ties remain, and are cut by document id as trec_eval cuts them.
    """
    texts = [f"{words_of(document_id)}\n{text}" for document_id, text in corpus.items()]
    document_ids = pl.Series("doc_id", list(corpus))
    parts = []
    for name, system in SYSTEMS.items():
        scores = system(texts, queries["text"].to_list()).astype(float).round(6)
        for query_id, row in zip(queries["query_id"], scores, strict=True):
            part = pl.DataFrame({"run": name, "query_id": query_id, "doc_id": document_ids, "score": row})
            parts.append(part.filter(pl.col("score") > 0).sort("score", "doc_id", descending=True).head(RUN_DEPTH))
    order = {"run": False, "query_id": False, "score": True, "doc_id": True}
    return pl.concat(parts).sort(list(order), descending=list(order.values()))


def make_pool(corpus: dict[str, str], runs: pl.DataFrame, qrels: pl.DataFrame) -> pl.DataFrame:
    """The unjudged documents among every run's ten best, with the start of their docstrings."""
    starts = pl.DataFrame(
        {
            "doc_id": list(corpus),
            "start": [" ".join(text.split())[:150] for text in corpus.values()],
        }
    )
    return (
        runs.group_by("run", "query_id", maintain_order=True)
        .head(POOL_DEPTH)
        .select("query_id", "doc_id")
        .unique()
        .join(qrels, on=["query_id", "doc_id"], how="anti")
        .join(starts, on="doc_id")
        .sort("query_id", "doc_id")
    )


def main() -> None:
    """Write the runs, or the pool of unjudged documents."""
    parser = argparse.ArgumentParser(description="Make the pydocs test collection.")
    commands = parser.add_subparsers(dest="command", required=True)
    runs_command = commands.add_parser("runs", help="write the runs as Parquet")
    runs_command.add_argument("path", type=Path, nargs="?", default=DATA / "runs.parquet")
    pool_command = commands.add_parser("pool", help="write the unjudged pool, tab-separated")
    pool_command.add_argument("path", type=Path)
    arguments = parser.parse_args()

    corpus = documents()
    runs = make_runs(corpus, read_queries())
    if arguments.command == "runs":
        runs.write_parquet(arguments.path, compression="zstd")
        print(f"{len(corpus)} documents, {len(runs)} rows written to {arguments.path}")
    else:
        pool = make_pool(corpus, runs, read_qrels())
        pool.write_csv(arguments.path, separator="\t", quote_style="never")
        print(f"{len(corpus)} documents, {len(pool)} to judge written to {arguments.path}")


if __name__ == "__main__":
    main()
