"""Stored figures are brought up to date as a full evaluation would make them, to the last bit."""

import random
import re
import warnings

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import polars_ir as ir

MEASURES = ["nDCG@5", "AP", "P@3", "NumRet", "Judged@5"]
COLUMNS = ["date", "run", "query_id", "doc_id", "score"]

#: Options that figures are made with, and measures that the first day lacks.
OPTIONS = [
    {},
    {"by": "date"},
    {"missing": "skip", "names": "sql"},
    {"by": "date", "missing": "skip", "undefined": None},
    {"ties": "input"},
    {"ties": "expected"},
    {"judged_only": True, "ties": "worst"},
    {"bounds": True, "names": "sql"},
    {"judges": "judge"},
    {"strict": True, "missing": "skip"},
]


def drawn(draw, *, by, judges, daily):
    """A run of days and systems with its judgments, as lists of rows."""
    days = ("18", "19") if by else ("18",)
    run = [
        (day, system, f"q{query}", f"d{document}", draw.randrange(9) / 2)
        for day in days
        for system in "ab"
        for query in range(9)
        if draw.random() < 0.85
        for document in draw.sample(range(12), 6)
    ]
    qrels = [
        (day, judge, f"q{query}", f"d{document}", draw.randrange(3))
        for day in (days if daily else days[:1])
        for judge in ("xy" if judges else "x")
        for query in range(8)
        for document in draw.sample(range(12), 4)
    ]
    return run, qrels


def changed(draw, run, qrels):
    """A later state of both: other rows, other grades, queries that are new or gone, and all in another order."""
    run, qrels = list(run), list(qrels)
    for rows in (run, qrels):
        for place in draw.sample(range(len(rows)), 2):
            rows[place] = (*rows[place][:-1], draw.randrange(3))
        del rows[draw.randrange(len(rows))]
    gone, new = f"q{draw.randrange(9)}", draw.choice(["q8", "q10"])
    if draw.random() < 0.7:
        run = [row for row in run if row[2] != gone or draw.random() < 0.5]
        qrels = [row for row in qrels if row[2] != gone]
    qrels += [(*qrels[0][:2], new, "d1", 1)]
    run += [(*run[0][:2], new, "d1", 3)] if all(row[2] != new for row in run) else []
    return run, qrels


def tables(run, qrels, *, by, judges, daily):
    run = pl.DataFrame(run, schema=COLUMNS, orient="row", strict=False, schema_overrides={"score": pl.Float64})
    qrels = pl.DataFrame(qrels, schema=["date", "judge", "query_id", "doc_id", "relevance"], orient="row")
    return run.drop([] if by else "date"), qrels.drop([*([] if daily else ["date"]), *([] if judges else ["judge"])])


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.filterwarnings("ignore::polars_ir.IRWarning")
def test_the_result_is_that_of_a_full_evaluation(seed, options):
    draw = random.Random(f"{seed} {options}")
    kinds = {"by": "by" in options, "judges": "judges" in options, "daily": "by" in options and draw.random() < 0.5}
    first = drawn(draw, **kinds)
    run, qrels = tables(*first, **kinds)
    measures = draw.sample(MEASURES, 3) if options.get("ties") != "expected" else ["AP", "P@3"]
    stored = ir.evaluate(run, qrels, measures, **options, provenance=True)
    run, qrels = tables(*changed(draw, *first), **kinds)
    if seed and options.get("ties") != "expected":
        measures = draw.sample(MEASURES, 4)
    if "ties" not in options:
        run = run.sample(fraction=1, shuffle=True, seed=seed)
    full = ir.evaluate(run, qrels, measures, **options, provenance=True)
    as_plan = run.lazy() if draw.random() < 0.3 else run
    assert_frame_equal(ir.update(stored, as_plan, qrels, measures, **options), full, check_exact=True)
    rows = ir.update(stored, run, qrels, measures, **options, changed_only=True)
    assert_frame_equal(merged(stored, rows, full), full.drop("provenance"), check_exact=True)


def merged(stored, rows, full):
    """The table after a MERGE of rows into it, in the columns of a full evaluation."""
    keys = [name for name in ("date", "run", "query_id") if name in full.columns]
    kept = stored.join(rows, on=keys, how="anti").join(full.select(keys), on=keys, how="left")
    there = pl.concat([kept, rows.filter(pl.col("query_hash").is_not_null())], how="diagonal")
    return there.select(full.columns).drop("provenance").sort(keys)


RUN = pl.DataFrame(
    [(system, f"q{q}", f"d{d}", float(d * q % 5)) for system in "ab" for q in range(6) for d in range(q % 3, 9)],
    schema=["run", "query_id", "doc_id", "score"],
    orient="row",
)
QRELS = pl.DataFrame(
    [(f"q{q}", f"d{d}", (q + d) % 3) for q in range(6) for d in range(5)],
    schema=["query_id", "doc_id", "relevance"],
    orient="row",
)
OF_ONE = pl.col("query_id") == "q3"


def stored(run=RUN, qrels=QRELS, measures=("AP", "P@2"), **options):
    return ir.evaluate(run, qrels, list(measures), **options, provenance=True)


def test_rows_for_a_merge_are_those_of_queries_that_changed():
    better = QRELS.with_columns(relevance=pl.when(OF_ONE).then(2).otherwise("relevance"))
    rows = stored().ir.update(RUN, better, ["AP", "P@2"], changed_only=True)
    assert rows.select("run", "query_id").rows() == [("a", "q3"), ("b", "q3")]
    assert ir.provenance(rows)["judgments"] == ir.provenance(stored(qrels=better))["judgments"]
    assert ir.update(stored(), RUN, QRELS.reverse(), ["P@2", "AP"], changed_only=True).height == 0
    # Every row has another column.
    assert ir.update(stored(), RUN, QRELS, ["AP", "RR"], changed_only=True).equals(stored(measures=["AP", "RR"]))


def test_systems_are_compared_after_a_merge_by_the_judgments_of_each_query():
    better = QRELS.with_columns(relevance=pl.when(OF_ONE).then(2).otherwise("relevance"))
    changed = RUN.filter(~OF_ONE | (pl.col("run") == "b") | (pl.col("doc_id") > "d2"))
    rows = ir.update(stored(), changed, better, ["AP", "P@2"], changed_only=True)
    merged = pl.concat([stored().join(rows, on=["run", "query_id"], how="anti"), rows])
    compared, full = (ir.compare(frame, "AP", baseline="a") for frame in (merged, stored(changed, better)))
    assert compared.equals(full)
    with pytest.raises(ir.IRError, match="must be made alike; judgments is"):
        ir.compare(pl.concat([stored().filter(run="a"), stored(qrels=better).filter(run="b")]), "AP")
    assert_frame_equal(ir.update(merged, changed, better, ["AP", "P@2"]), stored(changed, better), check_exact=True)


@pytest.mark.parametrize("changes", [1, 20])
def test_plans_are_brought_up_to_date_by_rows_or_by_figures(changes):
    ids = [f"q{number}" for number in range(40)]
    run = {id: [f"d{(place * 7 + number) % 10}" for place in range(5)] for number, id in enumerate(ids)}
    qrels = {id: {f"d{number % 10}": 1, "d3": 2} for number, id in enumerate(ids)}
    systems = {name: ir.top_k(run, depth) for name, depth in (("a", 5), ("b", 4))}
    plans = {name: rows.lazy() for name, rows in systems.items()}
    rows = [(id, document, grade) for id, grades in qrels.items() for document, grade in grades.items()]
    judgments = pl.DataFrame(rows, schema=["query_id", "doc_id", "relevance"], orient="row")
    stored = ir.evaluate(systems, judgments, MEASURES, provenance=True)
    worst = pl.when(pl.col("query_id").is_in(ids[:changes])).then(-pl.col("score")).otherwise("score")
    later = {name: plan.with_columns(score=worst) for name, plan in plans.items()}
    expected = ir.evaluate(later, judgments.lazy(), MEASURES, provenance=True).collect()
    assert not expected.equals(stored)
    assert stored.ir.update(later, judgments.lazy(), MEASURES).equals(expected)


def test_queries_that_are_gone_are_told():
    fewer = QRELS.filter(~OF_ONE)
    with pytest.warns(ir.IRWarning, match="stored has 2 rows of queries .* no longer have, the first being 'a, q3'"):
        rows = ir.update(stored(), RUN, fewer, ["AP", "P@2"], changed_only=True)
    assert rows.rows() == [("a", "q3", None, None, None, None), ("b", "q3", None, None, None, None)]
    with pytest.warns(ir.IRWarning, match="the result lacks them"):
        assert ir.update(stored(), RUN, fewer, ["AP", "P@2"]).equals(stored(qrels=fewer))


@pytest.mark.parametrize(
    "dtype", [pl.Date, pl.Time, pl.Datetime("ms"), pl.Datetime("ns"), pl.Datetime("us", "Europe/Berlin")]
)
def test_days_of_a_text_file_are_those_of_the_run(dtype):
    run = RUN.with_columns(night=pl.from_epoch(pl.lit(1_767_571_200_000_000_001), "ns").cast(dtype))
    full = stored(run, by="night")
    of_text = full.with_columns(pl.read_csv(full.select("night").write_csv().encode(), infer_schema=False))
    assert ir.update(of_text, run, QRELS, ["AP", "P@2"], by="night").equals(full)
    with pytest.raises(ir.IRError, match=r"stored column 'night' must be .*, as in the run; it is String"):
        ir.update(full.with_columns(night=pl.lit("monday")), run, QRELS, "AP", by="night")


def test_stored_figures_are_read_in_the_spelling_and_the_types_of_a_store():
    of_store = stored(names="sql").with_columns(pl.col("run").cast(pl.Categorical)).sort("p_2")
    moved = RUN.with_columns(score=pl.col("score") * pl.when(OF_ONE).then(-1).otherwise(1))
    assert ir.update(of_store, moved, QRELS, ["AP", "P@2"]).equals(stored(moved))
    assert ir.update(stored().lazy(), moved.lazy(), QRELS.lazy(), ["AP", "P@2"]).collect().equals(stored(moved))
    pandas = ir.update(stored().to_pandas(), moved.to_pandas(), QRELS, ["AP", "P@2"])
    assert_frame_equal(pl.from_pandas(pandas), stored(moved))
    # Of half the precision nothing is the same to the last bit.
    rounded = stored().with_columns(pl.col("AP").cast(pl.Float32))
    assert ir.update(rounded, moved, QRELS, ["AP", "P@2"]).equals(stored(moved))


def test_what_only_a_name_is_known_of_is_evaluated_anew():
    def mine(factor):
        return (factor / ir.rank).max().alias("mine")

    first, second = (stored(measures=["AP", mine(factor)]) for factor in (1, 2))
    assert not first.equals(second)
    assert ir.update(first, RUN, QRELS, ["AP", mine(2)]).equals(second)
    renamed = [ir.precision(k=k).alias("main") for k in (1, 2)]
    assert ir.update(stored(measures=[renamed[0]]), RUN, QRELS, renamed[1]).equals(stored(measures=[renamed[1]]))


def test_measures_that_read_other_queries_are_evaluated_whole():
    elsewhere = pl.col("judged_elsewhere").sum().alias("known")
    more = pl.concat([QRELS, pl.DataFrame([("q0", "d8", 1)], schema=QRELS.schema, orient="row")])
    expected = stored(qrels=more, measures=["AP", elsewhere])
    assert ir.update(stored(measures=["AP", elsewhere]), RUN, more, ["AP", elsewhere]).equals(expected)


@pytest.mark.parametrize("numbered", [False, True])
def test_a_run_that_holds_its_grades(numbered):
    labelled = RUN.join(QRELS, on=["query_id", "doc_id"], maintain_order="left").filter(run="a").drop("run")
    labelled = labelled.drop("doc_id") if numbered else labelled
    better = labelled.with_columns(relevance=pl.when(OF_ONE).then(1).otherwise("relevance"))
    first = ir.evaluate(labelled, ["AP", "P@2"], provenance=True)
    assert ir.update(first, better, None, ["AP", "P@2"]).equals(ir.evaluate(better, ["AP", "P@2"], provenance=True))


def test_systems_without_an_answer_are_still_systems():
    runs = {"a": RUN.filter(run="a").drop("run"), "b": {}}
    better = QRELS.with_columns(relevance=pl.when(OF_ONE).then(2).otherwise("relevance"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        first, full = (ir.evaluate(runs, qrels, "AP", provenance=True) for qrels in (QRELS, better))
        assert ir.update(first, runs, better, "AP").equals(full)


def test_a_system_that_shares_nothing_with_the_judgments_is_warned_of():
    other = RUN.with_columns(doc_id=pl.when(run="b").then(pl.lit("x") + pl.col("doc_id")).otherwise("doc_id"))
    with pytest.warns(ir.IRWarning, match="no retrieved document is judged .* ids of the run are 'xd0'"):
        ir.update(stored(), other, QRELS, ["AP", "P@2"])


@pytest.mark.parametrize(
    ("entry", "other", "versions"),
    [
        (f'"polars_ir": "{ir.__version__}"', '"polars_ir": "0.2.9"', f"polars_ir 0.2.9 and polars {pl.__version__}"),
        (f'"polars": "{pl.__version__}"', '"polars": "1.99.0"', f"polars_ir {ir.__version__} and polars 1.99.0"),
        (f' "polars": "{pl.__version__}",', "", f"polars_ir {ir.__version__}"),
    ],
)
def test_figures_of_another_version_are_evaluated_anew(entry, other, versions):
    text = pl.col("provenance").str.replace(entry, other, literal=True)
    earlier = stored().with_columns(text, AP=pl.lit(0.5))
    with pytest.warns(ir.IRWarning, match=f"stored has figures of {re.escape(versions)}, which are evaluated anew"):
        assert ir.update(earlier, RUN, QRELS, ["AP", "P@2"]).equals(stored())


@pytest.mark.parametrize(
    ("frame", "options", "message"),
    [
        (stored(), {"missing": "skip"}, "stored was made with other options: missing is 'zero' and 'skip' now"),
        (stored().drop("query_hash"), {}, "stored has no column 'query_hash'.*provenance=True"),
        (stored().with_columns(query_hash=pl.lit(1)), {}, "stored column 'query_hash' must be texts.*it is Int32"),
        (stored().with_columns(provenance=pl.lit("{}")), {}, "has '{}' in 'provenance', which evaluate did not write"),
        (pl.concat([stored(), stored()]), {}, "stored has .* rows that repeat the ids"),
        (stored().drop("run"), {}, "stored distinguishes its rows by 'query_id', and the run its rankings by 'run', "),
        (stored().with_columns(query_id=pl.lit(1)), {"qrels": {1: {"d": 1}}}, "ids"),
        (stored(), {"measures": "prefs_simp"}, "measures of preferences are evaluated as a whole"),
        (RUN, {}, "stored must have a row for each query"),
    ],
)
def test_what_can_not_be_updated_is_refused(frame, options, message):
    arguments = {"run": RUN, "qrels": QRELS, "measures": ["AP"], **options}
    with pytest.raises(ir.IRError, match=message):
        ir.update(frame, **arguments)


def test_rows_that_are_wrong_are_found_where_nothing_else_changed():
    wrong = pl.concat([RUN, RUN.head(1).with_columns(query_id=None)])
    for run in (wrong, wrong.lazy()):
        with pytest.raises(ir.IRError, match="null"):
            ir.update(stored(), run, QRELS, ["AP"])
