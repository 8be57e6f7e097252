"""Measures of a recommender's lists: the toy example of the definitions, brute force, and what cannot be measured."""

from __future__ import annotations

import itertools
import math
import random
import warnings

import polars as pl
import pytest

import polars_ir as ir
from polars_ir.cli import main

LISTS = {"u1": "de", "u2": "cd", "u3": "bc", "u4": "b"}
CATEGORIES = {"a": [1, 0], "b": [1, 0], "c": [1, 1], "d": [0, 1], "e": [0, 1], "f": [1, 1]}


def pairs(of: dict[str, str]) -> pl.DataFrame:
    rows = [(user, item) for user, items in of.items() for item in items]
    return pl.DataFrame(rows, schema=["user_id", "item_id"], orient="row")


def ranked(of: dict[str, str]) -> pl.DataFrame:
    return pairs(of).with_columns(rank=pl.int_range(pl.len()).over("user_id") + 1)


RUN = ranked(LISTS)
TRAIN = pairs({"u1": "abc", "u2": "ab", "u3": "ad", "u4": "a"})
TEST = pairs({"u1": "d", "u2": "ce", "u3": "f", "u4": "b"}).with_columns(relevance=1)
ITEMS = pl.DataFrame(
    {
        "item_id": list(CATEGORIES),
        "genre": [["x"] * x + ["y"] * y for x, y in CATEGORIES.values()],
        "numbers": pl.Series(list(CATEGORIES.values()), dtype=pl.List(pl.Float64)),
        "flags": [[x == 1, y == 1] for x, y in CATEGORIES.values()],
        "huge": pl.Series([[1e200 * x, 1e200 * y] for x, y in CATEGORIES.values()], dtype=pl.Array(pl.Float64, 2)),
        "tiny": pl.Series([[1e-200 * x, 1e-200 * y] for x, y in CATEGORIES.values()], dtype=pl.Array(pl.Float64, 2)),
        "vector": pl.Series(list(CATEGORIES.values()), dtype=pl.Array(pl.Float32, 2)),
        "first": ["x", "x", "x", "y", "y", "x"],
    }
)
ROOT = 1 - 0.5**0.5
FIGURES = {
    "Novelty@2": [2, 2, 1.5, 1],
    "Novelty(cold='skip')@2": [2, 2, 1.5, 1],
    "Novelty(base='users',denominator='k')@2": [1, 1, 0.75, 0.25],
    "Popularity@2": [0.5, 1, 1.5, 2],
    "Popularity(cold='skip')@2": [1, 1, 1.5, 2],
    "Tail@2": [1, 0.5, 0, 0],
    "Tail(cold='neither')@2": [0.5, 0.5, 0, 0],
    "Seen@2": [0, 0, 0, 0],
    "ILD(of='genre')@2": [0, ROOT, ROOT, None],
    **{f"ILD(of='{of}')@2": [0, ROOT, ROOT, None] for of in ("numbers", "flags", "huge", "tiny", "vector")},
    "ILD(of='first')@2": [0, 1, 0, None],
    "Serendipity@2": [1 / 6, 1 / 6, 0, 1 / 6],
}
ALONE = [name for name in FIGURES if name != "Serendipity@2"]


@pytest.mark.parametrize("name", FIGURES)
def test_the_toy_example_has_its_figures(name):
    judged = TEST if name == "Serendipity@2" else None
    figures = ir.evaluate(RUN, judged, name, history=TRAIN, items=ITEMS)[name].to_list()
    assert figures == pytest.approx(FIGURES[name], abs=1e-11)


def as_plan(frame):
    return frame.lazy()


def as_pandas(frame):
    return frame.drop("vector", "huge", "tiny", strict=False).to_pandas()


@pytest.mark.parametrize("make", [as_plan, as_pandas])
@pytest.mark.parametrize("judged", [True, False])
def test_every_kind_of_table_gives_the_same_bits(make, judged):
    names = FIGURES if judged else ALONE
    measures = [name for name in names if not name.startswith("ILD") or "genre" in name or "first" in name]
    given = (RUN, *([TEST] if judged else []), measures)
    expected = ir.evaluate(*given, history=TRAIN, items=ITEMS)
    tables = {"history": make(TRAIN), "items": make(ITEMS)}
    result = ir.evaluate(*(make(t) if isinstance(t, pl.DataFrame) else t for t in given), **tables)
    found = result.collect() if isinstance(result, pl.LazyFrame) else pl.from_pandas(result)
    assert found.equals(expected)


#: The means that the tools have on the toy example: RecTools 0.19, RePlay 0.22 and Evidently 0.7.23 were run, the
#: formulas of RecBole and Elliot worked by hand.
KITS = {
    "rectools MeanInvUserFreq@2": 1.625,
    "rectools AvgRecPopularity@2": 1.25,
    "rectools Serendipity@2": 0.125,
    "replay Surprisal@2": 0.75,
    "evidently NoveltyMetric@2": 1.625,
    "recbole averagepopularity@2": 1.25,
    "elliot APLT@2": 0.25,
}


@pytest.mark.parametrize("name", KITS)
def test_a_name_of_a_tool_has_the_mean_of_the_tool(name):
    figures = ir.evaluate(RUN, TEST, name, history=TRAIN, items=ITEMS).ir.mean()
    assert figures.row(0) == pytest.approx((KITS[name],), abs=1e-12)


def test_a_change_of_the_history_or_the_items_is_seen_by_update_and_by_compare():
    given = (RUN, TEST, ["nDCG@2", "Novelty@2", "ILD(of='first')@2"])
    stored = ir.evaluate(*given, history=TRAIN, items=ITEMS, provenance=True)
    same = ir.update(stored, *given, history=TRAIN.reverse(), items=ITEMS.reverse().drop("genre"), changed_only=True)
    assert same.is_empty()
    longer = pl.concat([TRAIN, pairs({"u9": "d"})])
    moved = ITEMS.with_columns(first=pl.col("first").reverse())
    for tables in ({"history": longer, "items": ITEMS}, {"history": TRAIN, "items": moved}):
        anew = ir.evaluate(*given, **tables, provenance=True)
        assert ir.update(stored, *given, **tables).equals(anew)
        with pytest.raises(ir.IRError, match=r"must be made alike; (history|items) is 'table"):
            ir.compare({"a": stored, "b": anew}, baseline="a", measures="Novelty@2")
    alone = ir.evaluate(RUN, "Novelty@2", history=TRAIN, provenance=True)
    assert ir.update(alone, RUN, None, "Novelty@2", history=longer).equals(
        ir.evaluate(RUN, "Novelty@2", history=longer, provenance=True)
    )


def cosine(a: object, b: object) -> float:
    if isinstance(a, str):
        return float(a == b)
    if isinstance(a[0], str):
        return len(set(a) & set(b)) / math.sqrt(len(set(a)) * len(set(b)))
    return sum(x * y for x, y in zip(a, b, strict=True)) / math.sqrt(sum(x * x for x in a) * sum(y * y for y in b))


class Log:
    """A drawn log, and its figures by the definitions."""

    def __init__(self, seed: int, scores: int = 1000) -> None:
        draw = random.Random(seed)
        self.items = [f"i{n}" for n in range(12)]
        users = [f"u{n}" for n in range(6)]
        self.history = {user: draw.sample(self.items[:9], draw.randint(1, 6)) for user in users}
        self.scores = {
            u: {i: draw.randrange(scores) for i in draw.sample(self.items, draw.randint(1, 8))} for u in users
        }
        self.likes = {user: set(draw.sample(self.items, 3)) for user in users}
        self.attributes = {
            "one": {i: draw.choice("xyz") for i in self.items},
            "many": {i: draw.sample("wxyz", draw.randint(1, 3)) for i in self.items},
            "vector": {i: [draw.gauss(0, 1) for _ in range(5)] for i in self.items},
        }
        self.attributes["one"]["i3"] = self.attributes["many"]["i3"] = self.attributes["vector"]["i3"] = None
        self.users = {i: sum(i in had for had in self.history.values()) for i in self.items}

    @property
    def run(self) -> pl.DataFrame:
        rows = [(u, i, float(s)) for u, list_ in self.scores.items() for i, s in list_.items()]
        return pl.DataFrame(rows, schema=["user_id", "item_id", "score"], orient="row")

    @property
    def tables(self) -> dict[str, pl.DataFrame]:
        frame = {name: list(of.values()) for name, of in self.attributes.items()}
        items = pl.DataFrame({"item_id": self.items, **frame}, schema_overrides={"vector": pl.Array(pl.Float64, 5)})
        return {"history": pairs(self.history), "items": items}

    @property
    def judged(self) -> pl.DataFrame:
        return pairs({u: sorted(items) for u, items in self.likes.items()}).with_columns(relevance=1)

    def figures(self, user: str, order: list[str], k: int) -> dict[str, float | None]:
        top, n_users = order[:k], len(self.history)
        bits = [math.log2(n_users / max(self.users[i], 1)) for i in top]
        popular = sorted((i for i in self.items if self.users[i]), key=lambda i: (-self.users[i], i))
        total, head, reached = sum(self.users.values()), set(), 0
        for item in popular:
            if reached >= 0.8 * total:
                break
            head.add(item)
            reached += self.users[item]
        levels = sorted({self.users[i] for i in popular}, reverse=True)
        m = len(self.items)
        p_any = {i: (m - levels.index(self.users[i])) / m if self.users[i] else 0.0 for i in self.items}
        higher = [max((m - r) / m - p_any[i], 0) for r, i in enumerate(top) if i in self.likes[user]]
        figures = {
            "Novelty": sum(bits) / len(top),
            "Popularity": sum(self.users[i] for i in top) / len(top),
            "Seen": sum(i in self.history[user] for i in top) / len(top),
            "Tail": sum(i not in head for i in top) / len(top),
            "Serendipity": sum(higher) / len(top),
        }
        for name, of in self.attributes.items():
            known = [of[i] for i in top if of[i] is not None]
            alike = [cosine(a, b) for a, b in itertools.combinations(known, 2)]
            figures[f"ILD(of='{name}')"] = 1 - sum(alike) / len(alike) if alike else None
        return figures


def in_order(scores: dict[str, int]) -> list[str]:
    return sorted(sorted(scores, reverse=True), key=lambda item: -scores[item])


NAMES = ["Novelty", "Popularity", "Seen", "Tail", "Serendipity", "ILD(of='one')", "ILD(of='many')", "ILD(of='vector')"]


@pytest.mark.filterwarnings("ignore:lists of")
@pytest.mark.parametrize("kind", ["eager", "lazy", "shuffled"])
@pytest.mark.parametrize(("seed", "scores"), [(1, 1000), (2, 3)])
@pytest.mark.parametrize("k", [3, None])
def test_figures_are_those_of_pairs_and_items_counted_one_by_one(seed, scores, k, kind):
    log = Log(seed, scores)
    tables, run = {**log.tables}, log.run
    if kind == "lazy":
        run, tables = run.lazy(), {name: table.lazy() for name, table in tables.items()}
    elif kind == "shuffled":
        run, tables = run.sample(fraction=1, shuffle=True, seed=1), {n: t.reverse() for n, t in tables.items()}
    names = [name if k is None else f"{name}@{k}" for name in NAMES]
    result = ir.evaluate(run, log.judged.lazy() if kind == "lazy" else log.judged, names, **tables).lazy().collect()
    for row in result.iter_rows(named=True):
        expected = log.figures(row["user_id"], in_order(log.scores[row["user_id"]]), k or 99)
        assert [row[name] for name in names] == pytest.approx([expected[name] for name in NAMES], abs=1e-11)
    eager = ir.evaluate(log.run, log.judged, names, **log.tables)
    assert result.equals(eager), "to the last bit"


@pytest.mark.parametrize("kind", ["eager", "lazy"])
def test_the_expectation_is_the_mean_over_all_orders_of_ties(kind):
    log = Log(5, scores=3)
    names = NAMES[:4]
    tables = {name: table.lazy() if kind == "lazy" else table for name, table in log.tables.items()}
    run = log.run.lazy() if kind == "lazy" else log.run
    result = ir.evaluate(run, [f"{name}@3" for name in names], ties="expected", **tables).lazy().collect()
    for row in result.iter_rows(named=True):
        scores = log.scores[row["user_id"]]
        levels = [[i for i in scores if scores[i] == s] for s in sorted(set(scores.values()), reverse=True)]
        orders = [[*itertools.chain(*o)] for o in itertools.product(*map(itertools.permutations, levels))]
        figures = [log.figures(row["user_id"], order, 3) for order in orders]
        for name in names:
            assert row[f"{name}@3"] == pytest.approx(sum(f[name] for f in figures) / len(figures), abs=1e-12)


def test_without_judgments_the_rows_are_the_users_of_the_run_and_with_them_those_who_are_judged():
    alone = RUN.ir.evaluate(["Novelty@2"], history=TRAIN)
    assert alone.rows() == [("u1", 2.0), ("u2", 2.0), ("u3", 1.5), ("u4", 1.0)]
    assert RUN.ir.novelty(k=2, history=TRAIN).equals(alone)
    judged = pairs({"u4": "b", "u9": "b"}).with_columns(relevance=1)
    result = RUN.ir.evaluate(judged, ["Novelty@2", "nDCG@2", "Serendipity@2"], history=TRAIN)
    assert result.rows() == [("u4", 1.0, 1.0, 0.25), ("u9", None, 0.0, None)]
    assert result.ir.mean().row(0) == (1.0, 0.5, 0.25)


def test_no_list_and_no_pair_are_null_whatever_is_undefined():
    judged = pairs({"u4": "b", "u9": "b"}).with_columns(relevance=1)
    result = RUN.ir.evaluate(judged, ["ILD(of='first')@2", "Seen@2", "P@2"], history=TRAIN, items=ITEMS, undefined=0.5)
    assert result.rows() == [("u4", None, 0.0, 0.5), ("u9", None, None, 0.0)]


def test_judged_measures_keep_every_bit_beside_those_of_lists():
    log = Log(3)
    alone = ir.evaluate(log.run, log.judged, ["nDCG@3", "AP"])
    beside = ir.evaluate(log.run, log.judged, ["nDCG@3", "Novelty@3", "AP"], **log.tables)
    assert beside.drop("Novelty@3").equals(alone)


def test_systems_and_keys_have_lists_of_their_own():
    runs = {"a": RUN, "b": RUN.filter(pl.col("user_id") != "u4")}
    of_dict = ir.evaluate(runs, ["Novelty@2"], history=TRAIN)
    assert of_dict.filter(run="b")["Novelty@2"].to_list() == [2.0, 2.0, 1.5]
    days = pl.concat([RUN.with_columns(day=1), RUN.with_columns(day=2, rank=pl.col("rank").reverse().over("user_id"))])
    by_day = days.ir.evaluate(["Novelty@1"], history=TRAIN, by="day")
    assert by_day.filter(day=2)["Novelty@1"].to_list() == [2.0, 2.0, 2.0, 1.0]


def test_a_column_that_run_and_items_both_have_is_that_of_the_items():
    run = RUN.with_columns(first=pl.lit("same"))
    assert run.ir.evaluate("ILD(of='first')@2", items=ITEMS)["ILD(of='first')@2"].to_list() == [0, 1, 0, None]


@pytest.mark.parametrize("make", [pl.DataFrame.clone, pl.DataFrame.lazy])
def test_items_without_what_they_are_compared_by_are_left_out_and_told(make):
    items = ITEMS.with_columns(
        pl.when(pl.col("item_id") != "d").then("first"),
        vector=pl.Series([[1, 0], [1, 0], [1, 1], [0, 0], [0, 1], [1, 1]], dtype=pl.Array(pl.Float64, 2)),
    )
    with pytest.warns(ir.IRWarning, match=r"lists of 2 queries, the first being 'u1', hold items without 'first'"):
        result = ir.evaluate(make(RUN), "ILD(of='first')@2", items=make(items)).lazy().collect()
    assert result["ILD(of='first')@2"].to_list() == [None, None, 0, None]
    with pytest.warns(ir.IRWarning, match="without 'vector'"):
        ir.evaluate(make(RUN), "ILD(of='vector')@2", items=make(items)).lazy().collect()


@pytest.mark.parametrize("make", [pl.DataFrame.clone, pl.DataFrame.lazy])
def test_a_history_that_shares_no_item_with_the_lists_is_told(make):
    other = TRAIN.with_columns(pl.concat_str(pl.lit("item-"), "item_id").alias("item_id"))
    with pytest.warns(ir.IRWarning, match="no item of a list is in the history"):
        ir.evaluate(make(RUN), ["Novelty@2"], history=make(other)).lazy().collect()


@pytest.mark.parametrize("make", [pl.DataFrame.clone, pl.DataFrame.lazy])
def test_a_history_that_shares_no_user_with_the_lists_is_told_of_seen_items(make):
    other = TRAIN.with_columns(pl.concat_str(pl.lit("0"), "user_id").alias("user_id"))
    with pytest.warns(ir.IRWarning, match="no user of a list is in the history, so that nothing counts as seen"):
        ir.evaluate(make(RUN), ["Seen@2"], history=make(other)).lazy().collect()
    with warnings.catch_warnings(action="error"):
        ir.evaluate(make(RUN), ["Novelty@2"], history=make(other)).lazy().collect()
        ir.evaluate(make(RUN), ["Seen@2"], history=make(other.vstack(TRAIN[:1]))).lazy().collect()


@pytest.mark.parametrize("engine", ["in-memory", "streaming"])
@pytest.mark.parametrize("lists", [("ab", "ab"), ("ab", "abcd"), ("abcd", "abcd")])
def test_a_plan_fails_for_wrong_rows_whether_lists_are_short_or_long(lists, engine):
    run = ranked(dict(zip(("u1", "u2"), lists, strict=True)))
    without = pl.when(pl.int_range(pl.len()) > 0).then("item_id")
    for wrong, says in ((pl.concat([run, run[-1:]]), "more than once"), (run.with_columns(without), "are null")):
        with pytest.raises(pl.exceptions.InvalidOperationError, match=says):
            wrong.lazy().ir.exposure("Entropy@3").collect(engine=engine)


def test_items_whose_vectors_are_all_empty_have_none():
    items = pl.DataFrame({"item_id": list("abcdef"), "v": pl.Series([[]] * 6, dtype=pl.List(pl.Float64))})
    with pytest.warns(ir.IRWarning, match="lists of 4 queries, the first being 'u1', hold items without 'v'"):
        assert RUN.ir.evaluate("ILD(of='v')@2", items=items)["ILD(of='v')@2"].null_count() == 4


def test_a_single_user_has_no_novelty_in_units_of_all_users():
    one = pairs({"u1": "ab"})
    names = ["Novelty@2", "Novelty(base='users')@2", "Popularity@2"]
    assert RUN.head(2).ir.evaluate(names, history=one.with_columns(item_id=pl.Series(["d", "b"]))).row(0) == (
        "u1",
        0.0,
        None,
        0.5,
    )


def test_an_empty_history_of_a_plan_has_no_novelty():
    with warnings.catch_warnings(action="ignore"):
        result = RUN.lazy().ir.evaluate(["Novelty@2", "Popularity@2"], history=TRAIN.head(0).lazy()).collect()
    assert result.row(0) == ("u1", None, 0.0)


def test_an_empty_run_has_no_rows():
    assert RUN.head(0).ir.evaluate(["Novelty@2"], history=TRAIN).is_empty()
    with pytest.warns(ir.IRWarning, match="share no query"):
        result = RUN.head(0).ir.evaluate(TEST, ["Novelty@2", "nDCG@2"], history=TRAIN)
    assert result["Novelty@2"].null_count() == 4


WRONG = {
    "no history": (RUN, ["Novelty@2"], {"items": ITEMS}, r"needs what users had before.*history=train"),
    "no items": (RUN, ["ILD(of='first')@2"], {"history": TRAIN}, "needs a frame with a row per item"),
    "ids of another type": (
        RUN,
        ["Novelty@2"],
        {"history": TRAIN.with_columns(item_id=pl.int_range(pl.len()))},
        "ids must have one type on both sides; run column 'item_id' is String and history",
    ),
    "an item twice": (RUN, ["ILD(of='first')@2"], {"items": pl.concat([ITEMS, ITEMS])}, "repeat the ids"),
    "nulls": (RUN, ["Novelty@2"], {"history": TRAIN.with_columns(pl.col("item_id").replace("d", None))}, "is null"),
    "an empty history": (RUN, ["Novelty@2"], {"history": TRAIN.head(0)}, "history has no rows"),
    "an unknown column": (RUN, ["ILD(of='frist')@2"], {"items": ITEMS}, "Did you mean 'first'"),
    "a number for a category": (
        RUN,
        ["ILD(of='x')@2"],
        {"items": ITEMS.with_columns(x=0.5)},
        "must be a category, a list of categories, or a vector",
    ),
    "vectors of two lengths": (
        RUN,
        ["ILD(of='v')@2"],
        {"items": ITEMS.with_columns(v=pl.Series([[1.0], [1.0], None, None, None, [1.0, 2.0]]))},
        r"(?s)another length.*item_id.*\| f ",
    ),
    "lists of whole numbers": (
        RUN,
        ["ILD(of='v')@2"],
        {"items": ITEMS.with_columns(v=pl.Series([[28, 12], [35, 18], [10], [9], [28], []]))},
        r"must be lists of texts for categories, of floats for vectors; it is List\(Int64\)",
    ),
    "lists of lists": (
        RUN,
        ["ILD(of='v')@2"],
        {"items": ITEMS.with_columns(v=pl.Series([[[1.0]]] * 6))},
        "must be a category, a list of categories, or a vector",
    ),
    "a vector with NaN": (
        RUN,
        ["ILD(of='v')@2"],
        {"items": ITEMS.with_columns(v=pl.Series([[1.0, math.nan]] * 6, dtype=pl.Array(pl.Float64, 2)))},
        r"(?s)holds a null, NaN or infinite number.*\| a ",
    ),
    "vectors of a plan without a length": (RUN, ["ILD(of='numbers')@2"], {"items": ITEMS.lazy()}, "to_array"),
    "an item twice in a list": (pl.concat([RUN, RUN]), ["Novelty@2"], {"history": TRAIN}, "repeat the ids"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_can_not_be_compared_is_an_error(name):
    run, measures, tables, says = WRONG[name]
    with pytest.raises(ir.IRError, match=says):
        run.ir.evaluate(measures, **tables)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"judged_only": True}, "judged_only=True goes by the grades of documents"),
        ({"ties": "best"}, "ties='best' goes by the grades of documents"),
        ({"bounds": True}, "bounds=True does not go with history or items"),
    ],
)
def test_options_of_grades_do_not_go_with_measures_of_lists(options, says):
    with pytest.raises(ir.IRError, match=says):
        RUN.ir.evaluate(TEST, ["Novelty@2", "P@2"], history=TRAIN, **options)


@pytest.mark.parametrize("options", [{"strict": True}, {"judges": "judge"}])
def test_options_of_judgments_need_some(options):
    with pytest.raises(ir.IRError, match=f"{next(iter(options))} is of judgments, and this call has none"):
        RUN.ir.evaluate(["Novelty@2"], history=TRAIN, **options)


@pytest.mark.parametrize("name", ["Novelty(cold='skip')@1", "Popularity(cold='skip')@1", "ILD(of='first')@1"])
def test_an_expectation_that_is_not_known_is_refused(name):
    with pytest.raises(ir.IRError, match=r"over all orders of tied (items|documents) is not known"):
        RUN.ir.evaluate([name], history=TRAIN, items=ITEMS, ties="expected")


def test_the_shell_reads_history_and_items_and_needs_no_judgments_for_measures_of_lists(tmp_path, capsys):
    files = {"run": RUN, "train": TRAIN, "test": TEST, "items": ITEMS.select("item_id", "first")}
    paths = {name: str(tmp_path / f"{name}.csv") for name in files}
    for name, frame in files.items():
        frame.write_csv(paths[name])
    tables = ["--history", paths["train"], "--items", paths["items"], "-m", "Novelty@2", "--tsv"]
    assert main(["evaluate", paths["run"], *tables, "-m", "ILD(of='first')@2"]) == 0
    assert capsys.readouterr().out.splitlines()[1].split("\t") == ["run", "1.625", "0.3333333333333333"]
    assert main(["evaluate", paths["test"], paths["run"], *tables, "-m", "P@1", "-q"]) == 0
    assert capsys.readouterr().out.splitlines()[1].split("\t") == ["run", "u1", "2.0", "1.0"]
    assert main(["evaluate", paths["test"], paths["run"], "-m", "Novelty@2"]) == 2
    assert "evaluate takes as --history" in capsys.readouterr().err
