"""Plans are compared by their moments: as the values are, but for rounding."""

import math

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import polars_ir as ir
from polars_ir.frames.known_order import known_order
from polars_ir.per_query.shared.pair_schema import AT_ONCE

pytest.importorskip("scipy")

MEASURES = ["AP", "RR", "Hole@5", "mine"]
RANGES = {"mine": (-10, 10)}

#: What plans have not, and what they do not note.
RANKS = ["rank_biserial", "rank_biserial_low", "rank_biserial_high"]


def drawn(systems: str, n: int = 300, seed: int = 0) -> pl.DataFrame:
    """Systems alike, whose queries lack and whose values are null here and there, in no order."""
    draw, frames = np.random.default_rng(seed), []
    common = draw.beta(1, 2, n)
    for number, system in enumerate(systems):
        moved = np.clip(common + (draw.random(n) < 0.7) * draw.normal(0.02 * number, 0.1, n), 0, 1)
        columns = {
            "query_id": [f"q{query}" for query in range(n)],
            "AP": np.where(draw.random(n) < 0.05, np.nan, np.round(moved, 2)),
            "RR": 1 / draw.integers(1, 9, n),
            "Hole@5": draw.integers(0, 6, n) / 5,
            "mine": draw.normal(0, 1, n),
            "language": [["de", "en"][query % 2] for query in range(n)],
        }
        frame = pl.DataFrame(columns).with_columns(pl.col("AP").fill_nan(None), run=pl.lit(system))
        frames.append(frame.filter(pl.Series(draw.random(n) < 0.95)))
    return pl.concat(frames).sample(fraction=1, shuffle=True, seed=seed)


def assert_same(plan: pl.LazyFrame, found: pl.DataFrame) -> None:
    assert isinstance(plan, pl.LazyFrame)
    note = pl.col("note").str.replace("(; )?rank_biserial needs the values[^;]*", "").str.strip_prefix("; ")
    note = note.replace("", None)
    # Of how many queries would decide, a plan knows the number by Student's t only.
    about = pl.col("note").str.replace("about [0-9,]+", "about so many").str.replace(r"p [=<] [\d.e-]+", "p")
    frame, found = plan.collect().with_columns(note).with_columns(about), found.with_columns(about)
    # The p of a drop is by changes of signs, or by their limit.
    without = [name for name in (RANKS if "p_corrected" in found.columns else ["p"]) if name in found.columns]
    assert_frame_equal(frame.drop(without), found.drop(without), rel_tol=1e-11, abs_tol=1e-12)


SYSTEMS = drawn("abc")


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"test": "auto", "missing": "skip", "alpha": 0.2},
        {"baseline": "b", "by": "language", "tolerance": 0.05, "family": "all"},
        {"measures": ["RR", "mine"], "margin": {"RR": 0.1}, "interval": "auto"},
        {"interval": "normal", "correction": None},
    ],
)
def test_comparisons_of_a_plan_are_those_of_its_values(options):
    given = {"measures": MEASURES, **options}
    assert_same(ir.compare(SYSTEMS.lazy(), **given), ir.compare(SYSTEMS, **given))


def test_in_a_slice_that_neither_of_two_answers_both_count_0():
    keys = {"run": list("abcabcc"), "query_id": list("qqqrrrs"), "language": ["de"] * 6 + ["en"]}
    frame = pl.DataFrame({**keys, "RR": [0.5, 1, 0, 0.25, 1, 0.5, 1]})
    found = ir.compare(frame, by="language", baseline="a")
    assert_same(ir.compare(frame.lazy(), by="language", baseline="a"), found)
    assert found.filter(language="en", run="b").select("mean", "n_queries").row(0) == (0, 1)


def test_many_systems_are_compared_in_plans_of_some_each():
    many, given = drawn("abcdefgh", n=60), {"measures": ["AP", "RR"], "by": "language"}
    assert AT_ONCE < 2 * 28
    # SciPy's search for the ends of an effect stops within 1e-9 of them.
    plan, found = (ir.compare(each, **given).drop("cohen_d_low", "cohen_d_high") for each in (many.lazy(), many))
    assert_same(plan, found)


@pytest.mark.parametrize(
    "options",
    [{}, {"max_drop": 0.2, "looks": (2, 5)}, {"missing": "skip", "alpha": 0.2}, {"by": "language", "max_drop": 0.1}],
)
def test_gates_of_plans_are_those_of_their_values(options):
    new, old = (SYSTEMS.filter(run=run).drop("run") for run in "cb")
    given = {"measures": MEASURES, "ranges": RANGES, **options}
    assert_same(ir.gate(new.lazy(), old.lazy(), **given), ir.gate(new, old, **given))


@pytest.mark.parametrize("options", [{}, {"difference": 0.01, "comparisons": 3}, {"n_queries": 99, "missing": "skip"}])
def test_plans_of_a_number_of_queries(options):
    by_system = {run: SYSTEMS.filter(run=run).drop("run") for run in "ab"}
    plans = {run: frame.lazy() for run, frame in by_system.items()}
    assert_same(ir.power(plans, MEASURES, **options), ir.power(by_system, MEASURES, **options))


@pytest.mark.parametrize(
    "values",
    [
        [0.0] * 90 + [0.5] * 40,  # a median of 0
        [0.25] * 70 + [0.1 * (number % 7) for number in range(60)],  # ties at another one
        [0.01 * number**2 % 1 for number in range(131)],
        [0.01 * number**2 % 1 for number in range(130)],  # between two values
        [0.4 - 0.3] * 65 + [0.2 - 0.1] * 66,  # equal but for rounding
    ],
)
def test_those_below_mean_and_median_are_counted(values):
    n = len(values)
    both = {"a": pl.DataFrame({"query_id": range(n), "mine": values})}
    both["b"] = both["a"].with_columns(mine=pl.lit(0.05) * (pl.col("query_id") % 3))
    plans = {run: frame.lazy() for run, frame in both.items()}
    assert_same(ir.compare(plans, test="auto"), ir.compare(both, test="auto"))
    both["b"] = both["a"].with_columns(mine=0.0)
    plans = {run: frame.lazy() for run, frame in both.items()}
    assert_same(ir.compare(plans, test="auto"), ir.compare(both, test="auto"))


@pytest.mark.parametrize("function", [ir.mean, ir.summarize])
def test_means_of_a_plan_are_those_of_its_values(function):
    frame = SYSTEMS.drop("mine")
    assert_frame_equal(function(frame.lazy()).collect(), function(frame), rel_tol=1e-13, abs_tol=0)


@pytest.mark.parametrize("system", ["abc", "a"])
def test_slices_of_a_plan_are_those_of_its_values(system):
    some = pl.col("query_id").str.slice(1).cast(pl.Int64) % 7
    frame = SYSTEMS.filter(pl.col("run").is_in(list(system))).with_columns(some.alias("some"))
    frame = frame if len(system) > 1 else frame.drop("run")
    assert_same(
        ir.worst_slices(frame.lazy(), ["language", "some"], MEASURES),
        ir.worst_slices(frame, ["language", "some"], MEASURES),
    )


@pytest.mark.parametrize("options", [{}, {"every": "1w", "reference": "earlier"}, {"reference": 5}, {"reference": 2}])
@pytest.mark.parametrize("system", ["abc", "a"])
def test_courses_of_a_plan_are_those_of_its_values(system, options):
    day = pl.date(2026, 1, 1) + pl.duration(days=pl.col("query_id").str.slice(1).cast(pl.Int64) % 14)
    frame = SYSTEMS.filter(pl.col("run").is_in(list(system))).with_columns(day)
    frame = frame if len(system) > 1 else frame.drop("run")
    assert_same(ir.drift(frame.lazy(), "date", MEASURES, **options), ir.drift(frame, "date", MEASURES, **options))


@pytest.mark.parametrize("options", [{}, {"reference": 1}])
def test_values_far_from_0_lose_no_digits_of_differences(options):
    n, draw = 3000, np.random.default_rng(3)
    near = pl.DataFrame(
        {"query_id": range(n), "part": draw.integers(0, 6, n), "mine": draw.integers(0, 2**20, n) / 2**30}
    )
    far = near.with_columns(mine=pl.col("mine") + 2.0**20)
    function = ir.drift if options else ir.worst_slices
    wanted = function(near, "part", **options)
    moved = pl.col("mean", "rest_mean") if not options else pl.col("mean", "low", "high", "reference_mean")
    wanted = wanted.with_columns(moved + 2.0**20)
    assert_same(function(far.lazy(), "part", **options), wanted)
    assert_frame_equal(function(far, "part", **options), wanted, rel_tol=1e-11, abs_tol=0)


NEW, OLD = SYSTEMS.filter(run="a").drop("run"), SYSTEMS.filter(run="b").drop("run")


def wrong(column: str, value: float | None) -> pl.LazyFrame:
    """The systems with a value in the place of the first one."""
    is_first = pl.int_range(pl.len()) == 0
    rows = SYSTEMS.sort("run", "query_id").with_columns(pl.when(is_first).then(value).otherwise(column).alias(column))
    return rows.lazy()


OTHERS = NEW.with_columns(query_id=pl.format("other {}", "query_id"))
FEW = SYSTEMS.filter(pl.col("query_id").is_in([f"q{query}" for query in range(30)]))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: ir.compare(SYSTEMS.lazy(), test="wilcoxon"), ["test='wilcoxon'", "per_query.collect()", "test='t'"]),
        (lambda: ir.compare(SYSTEMS.lazy(), test="max-t"), ["test='max-t'", "per_query.collect()"]),
        (lambda: ir.compare(SYSTEMS.lazy(), interval="BCa"), ["interval='BCa'", "interval='t'"]),
        (lambda: ir.compare(SYSTEMS.lazy(), cluster="language"), ["cluster", "group_by"]),
        (lambda: ir.compare(FEW.lazy(), "AP", test="auto"), ["fewer than 20 queries", "collect()"]),
        (lambda: ir.gate(NEW.lazy(), OLD.lazy(), "AP", interval="bounded"), ["interval='bounded'", "interval='auto'"]),
        (lambda: ir.gate(NEW.lazy(), NEW.lazy(), "AP"), ["fewer than 20 queries", "new.collect()"]),
        (lambda: ir.gate(NEW.lazy(), OLD.lazy(), "mine", ranges={"mine": (0, 1)}), ["'mine' must be from 0 to 1"]),
        (
            lambda: ir.compare(pl.concat([SYSTEMS, SYSTEMS.head(1)]).lazy()),
            ["2 rows that repeat the ids", "rows of 'a'"],
        ),
        (
            lambda: ir.compare(pl.concat([NEW, NEW.head(1)]).lazy().with_columns(run=pl.lit("a"))),
            ["several systems"],
        ),
        (
            lambda: ir.compare(SYSTEMS.with_columns(language=pl.col("run")).lazy(), "AP", by="language"),
            ["in several slices", "The same slice"],
        ),
        (lambda: ir.compare(SYSTEMS.lazy(), baseline="d"), ["baseline", "'d'"]),
        (lambda: ir.worst_slices(pl.concat([NEW, NEW.head(1)]).lazy(), "language"), ["2 rows that repeat"]),
        (lambda: ir.worst_slices(SYSTEMS.lazy(), "language", baseline="a"), ["collect()"]),
        (lambda: ir.drift(pl.concat([NEW, NEW.head(1)]).lazy(), "language"), ["2 rows that repeat", "come again"]),
        (lambda: ir.drift(NEW.lazy(), "language", cluster="query_id"), ["cluster", "collect()", "group_by"]),
        (lambda: ir.drift(NEW.lazy(), "language", every="1w"), ["dates or times", "every"]),
        (lambda: ir.drift(NEW.with_columns(day="query_id").lazy(), "day", "AP"), ["most buckets would hold one"]),
        (lambda: ir.compare(SYSTEMS.clear().lazy()), ["no row"]),
        (lambda: ir.gate(NEW.lazy(), OLD.clear().lazy(), "AP"), ["old has no row"]),
        (
            lambda: ir.compare({"a": NEW.lazy(), "b": OTHERS.lazy()}),
            ["\nir.compare needs two queries"],
        ),
        (
            lambda: ir.gate(NEW.lazy(), OTHERS.lazy(), "AP"),
            ["\nnew and old must have the same queries; they share none"],
        ),
        (lambda: ir.compare(wrong("query_id", None)), ["'query_id' is null", 'for example query_id: "null"']),
        (lambda: ir.drift(wrong("RR", math.nan), "language"), ["NaN", 'for example query_id: "q']),
    ],
)
def test_what_plans_do_not_tell_is_an_error(call, words):
    with pytest.raises(ir.IRError) as error:
        call()
    for word in words:
        assert word.lower() in f"\n{error.value}".lower()


def test_types_that_differ_by_file_are_an_error_with_the_cast(tmp_path):
    NEW.with_columns(run=pl.lit("a")).write_parquet(tmp_path / "0.parquet")
    numbers = OLD.with_columns(run=pl.lit("b"), query_id=pl.col("query_id").str.slice(1).cast(pl.Int64))
    numbers.write_parquet(tmp_path / "1.parquet")
    with pytest.raises(ir.errors.DtypeError, match="String in the first and Int64 in another") as error:
        ir.compare(pl.scan_parquet(tmp_path / "*.parquet"))
    _, advice = str(error.value).split("Cast it in each: ")
    files = sorted(tmp_path.glob("*.parquet"))
    cast = eval(advice.removesuffix("."), {"pl": pl, "files": files})  # noqa: S307  # what the message says
    assert cast.collect()["query_id"].n_unique() == NEW.height + OLD.height


@pytest.mark.parametrize("keys", [["query_id", "run"], ["query_id"]])
@pytest.mark.whole("calls many functions", quick=1)
def test_sorted_rows_are_grouped_as_they_come(keys):
    rows = SYSTEMS.sort("query_id", "run")
    plan = rows.lazy().set_sorted(*keys)
    assert known_order(plan, ["query_id", "run"]) == keys
    assert known_order(rows.lazy(), ["query_id", "run"]) == []
    by = {"by": "language"}
    assert_same(ir.compare(plan, MEASURES, test="auto", **by), ir.compare(rows, MEASURES, test="auto", **by))
    assert_same(ir.compare(plan, MEASURES), ir.compare(rows, MEASURES))
    assert_same(ir.worst_slices(plan, measures=MEASURES, **by), ir.worst_slices(rows, measures=MEASURES, **by))
    means = ir.mean(rows.drop("mine"))
    assert_frame_equal(ir.mean(plan.drop("mine")).collect(), means, rel_tol=1e-13, abs_tol=0)
    new, old = (plan.filter(run=run).drop("run").set_sorted("query_id") for run in "cb")
    given = {"measures": MEASURES, "ranges": RANGES}
    assert_same(ir.gate(new, old, **given), ir.gate(new.collect(), old.collect(), **given))


def test_rows_that_are_not_sorted_as_is_claimed_are_an_error():
    claimed = SYSTEMS.lazy().set_sorted("query_id", "run")
    with pytest.raises(
        ir.errors.DataError, match="out of order, where its plan says that it is sorted by 'query_id', 'run'"
    ):
        ir.compare(claimed, "AP")
    with pytest.raises(
        pl.exceptions.InvalidOperationError,
        match="out of order, where its plan says that it is sorted by 'query_id', 'run'",
    ):
        ir.mean(claimed).collect()
