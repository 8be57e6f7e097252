"""Figures by each judge, agreement of judges, and the judgments of several made one."""

import random

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import polars_ir as ir

DRAW = random.Random(46)
RUN = pl.DataFrame(
    [(s, f"q{q}", f"d{d}", DRAW.randrange(4)) for s in "ab" for q in range(6) for d in DRAW.sample(range(20), 8)],
    schema=["run", "query_id", "doc_id", "score"],
    orient="row",
)
#: The third judge lacks a query, and each some documents.
QRELS = pl.DataFrame(
    [
        (judge, f"q{q}", f"d{d}", DRAW.randrange(3))
        for judge, n in (("people", 7), ("m1", 7), ("m2", 5))
        for q in range(n)
        for d in DRAW.sample(range(20), 9)
    ],
    schema=["judge", "query_id", "doc_id", "relevance"],
    orient="row",
)
#: Grades of two queries by two judges.
PAIR = pl.DataFrame(
    [
        (q, d, g, judge)
        for judge, text in (("p", "1020"), ("m", "1120"))
        for (q, d), g in zip((("q1", "a"), ("q1", "b"), ("q2", "a"), ("q2", "c")), map(int, text), strict=True)
    ],
    schema=["query_id", "doc_id", "relevance", "judge"],
    orient="row",
)
MEASURES = ["nDCG@5", "AP", "RR", "NumRet", pl.col("judged_elsewhere").sum().alias("elsewhere")]


def each_alone(run, qrels, measures, **options):
    """The figures of a call per judge, below each other."""
    parts = []
    for (judge,), of_judge in sorted(qrels.partition_by("judge", as_dict=True, include_key=False).items()):
        result = ir.evaluate(run, of_judge, measures, **options)
        parts.append(result.select(pl.lit(judge).alias("judge"), pl.all()))
    return pl.concat(parts).drop("provenance", strict=False)


@pytest.mark.filterwarnings("ignore::polars_ir.IRWarning")
@pytest.mark.parametrize(
    "options",
    [
        {"provenance": True},
        *(
            pytest.param(options, marks=pytest.mark.whole("every option"))
            for options in ({}, {"missing": "skip"}, {"judged_only": True}, {"ties": "input"}, {"ties": "best"})
        ),
    ],
    ids=str,
)
def test_figures_by_judge_are_those_of_a_call_per_judge(options):
    expected = each_alone(RUN, QRELS, MEASURES, **options)
    for run, qrels in ((RUN, QRELS), (RUN, ir.judgments(QRELS)), (RUN.lazy(), QRELS.lazy()), (RUN, QRELS.lazy())):
        result = ir.evaluate(run, qrels, MEASURES, by="judge", **options)
        assert isinstance(result, type(run))
        rows = result.lazy().drop("provenance", strict=False).collect(engine="streaming")
        assert_frame_equal(rows, expected, check_exact=True)


@pytest.mark.filterwarnings("ignore::polars_ir.IRWarning")
def test_bounds_subtopics_and_preferences_are_by_judge_too():
    topics = QRELS.with_columns(subtopic="s" + (pl.col("doc_id").hash() % 3).cast(pl.String))
    for qrels, measures, options in (
        (QRELS, ["nDCG@5"], {"bounds": True}),
        (topics, ["alpha_nDCG@5"], {}),
        (QRELS, ["nDCG@5"], {"exclude": {"q1": ["d1", "d3"]}, "duplicates": "first"}),
    ):
        expected = each_alone(RUN, qrels, measures, **options)
        assert_frame_equal(ir.evaluate(RUN, qrels, measures, by="judge", **options), expected, check_exact=True)
    with pytest.raises(ir.IRError, match=r"by which preferences are counted anyway. Rename it, and name that: qrels"):
        ir.evaluate(RUN, QRELS, "prefs_simp", by="judge")
    renamed = ir.evaluate(RUN, QRELS.rename({"judge": "assessor"}), "prefs_simp", by="assessor")
    assert renamed["prefs_simp"].equals(each_alone(RUN, QRELS, "prefs_simp")["prefs_simp"])
    runs = {name: RUN.filter(run=name).drop("run") for name in "ab"}
    assert_frame_equal(ir.evaluate(runs, QRELS, "AP", by="judge"), each_alone(RUN, QRELS, "AP"), check_exact=True)


@pytest.mark.filterwarnings("ignore:some queries lack judgments")
def test_functions_of_per_query_frames_know_the_judge_and_other_functions_of_runs_take_it():
    per_query = RUN.ir.ap(QRELS, by="judge")
    m1 = RUN.ir.ap(QRELS.filter(judge="m1").drop("judge"))
    assert per_query.columns == ["judge", "run", "query_id", "AP"]
    assert_frame_equal(ir.mean(per_query, by="judge").filter(judge="m1").drop("judge"), ir.mean(m1))
    assert ir.compare(per_query, "AP", by="judge")["judge"].to_list() == ["m1", "m2", "people"]
    assert "people AP" in str(ir.table(per_query, by="judge"))
    with pytest.raises(ir.IRError, match="name what distinguishes them: by='judge'"):
        ir.mean(per_query)
    relation = ir.judge(RUN, QRELS, by="judge").filter(judge="m2").drop("judge")
    alone = ir.judge(RUN, QRELS.filter(judge="m2").drop("judge"))
    assert_frame_equal(relation, alone.select(relation.columns), check_row_order=False)
    pandas = pytest.importorskip("pandas")
    assert isinstance(frame := ir.evaluate(RUN.to_pandas(), QRELS.to_pandas(), "AP", by="judge"), pandas.DataFrame)
    assert frame["AP"].tolist() == per_query["AP"].to_list()


@pytest.mark.parametrize(
    ("qrels", "message"),
    [
        (QRELS.with_columns(judge=pl.when(pl.col("judge") != "m1").then("judge")), "rows whose 'judge' is null"),
        (pl.concat([QRELS, QRELS.head(1)]), r"repeat the ids of another \(judge, query_id, doc_id\)"),
        (QRELS.drop("judge"), "has no column 'judge', which by says.*, and the qrels have 'query_id', 'doc_id'"),
        (QRELS.rename({"judge": "Judge"}), "and the qrels have 'Judge'.* Did you mean 'Judge'"),
        (QRELS.with_columns(judge=1.5), "column 'judge' must be strings or integers, .*Cast it: qrels.with_columns"),
    ],
)
def test_judges_that_can_not_be_are_refused(qrels, message):
    with pytest.raises(ir.IRError, match=message):
        ir.evaluate(RUN, qrels, ["AP"], by="judge")


def test_a_column_of_judges_is_named_once():
    with pytest.raises(
        ir.IRError, match="name it in one of them: judges='judge' for the mean over judges, by='judge' for"
    ):
        ir.evaluate(RUN, QRELS, "AP", by="judge", judges="judge")


def warned(run, qrels, measures, **options):
    """The warnings of figures by judge, the same of plans."""
    with pytest.warns(ir.IRWarning) as eager:
        ir.evaluate(run, qrels, measures, by="judge", **options)
    with pytest.warns(ir.IRWarning) as lazy:
        ir.evaluate(pl.DataFrame(run).lazy(), qrels, measures, by="judge", **options).collect()
    assert sorted(str(w.message) for w in lazy) == sorted(str(w.message) for w in eager)
    return sorted(str(w.message) for w in eager)


def test_warnings_of_one_judges_grades_name_the_judge():
    run = PAIR.select("query_id", "doc_id", score=1.0).unique(maintain_order=True)

    def of_m(grade):
        return PAIR.with_columns(relevance=pl.when(judge="m").then(grade).otherwise("relevance"))

    (above,) = warned(run, of_m(-1), ["AP"])
    assert above == "no grade of the qrels by 'judge m' is above 0, so that no document is relevant."
    (highest,) = warned(run, of_m(1), ["AP(rel=2)"])
    assert highest.startswith("to 'AP(rel=2)' no grade by 'judge m' is relevant: the highest is 1.")
    # All alike, they are those of the qrels.
    with pytest.warns(ir.IRWarning, match="no grade is relevant: the highest is 2"):
        ir.evaluate(run, PAIR, "AP(rel=3)", by="judge")


def test_judges_of_other_queries_are_warned_of_with_code_that_keeps_the_queries_of_all():
    run = PAIR.select("query_id", "doc_id", score=1.0).unique(maintain_order=True)
    qrels = PAIR.filter((pl.col("judge") != "m") | (pl.col("query_id") != "q1"))
    (message,) = warned(run, qrels, ["AP"])
    assert "there are 1, the first being 'q1'. To compare their means, keep the queries of all: " in message
    code = message.split("of all: ")[1].rstrip(".")
    assert eval(code, {"qrels": qrels, "pl": pl})["query_id"].unique().to_list() == ["q2"]  # noqa: S307  # what the message says
    of_pandas = qrels.to_pandas()
    with pytest.warns(ir.IRWarning) as caught:
        ir.evaluate(run.to_pandas(), of_pandas, "AP", by="judge")
    code = str(caught[0].message).split("of all: ")[1].rstrip(".")
    assert set(eval(code, {"qrels": of_pandas})["query_id"]) == {"q2"}  # noqa: S307  # what the message says


def test_the_warning_of_ids_that_never_match_shows_those_of_the_judge():
    run = PAIR.select("query_id", "doc_id", score=1.0).unique(maintain_order=True)
    spelt = PAIR.with_columns(doc_id=pl.when(judge="m").then(pl.lit("D-") + pl.col("doc_id")).otherwise("doc_id"))
    (message,) = warned(run, spelt, ["AP"])
    assert "of 'judge m' is judged" in message
    assert message.split("of the qrels ")[1].startswith("'D-a', 'D-b', 'D-c'")


#: Grades of 12 units by four coders, `.` where one lacks; Krippendorff 2011.
FOUR = {"a": "123321412...", "b": "1233224125.3", "c": ".3332342251.", "d": "12332441251."}


def judged(grades, query=lambda _: "q"):
    """Judgments of texts of grades, a character for each document."""
    rows = [
        (judge, query(place), f"d{place:04}", int(grade))
        for judge, text in grades.items()
        for place, grade in enumerate(text)
        if grade != "."
    ]
    return pl.DataFrame(rows, schema=["judge", "query_id", "doc_id", "relevance"], orient="row")


def crossed(table):
    """Judgments of two judges with the counts of a table."""
    pairs = [(i, j) for i, row in enumerate(table) for j, n in enumerate(row) for _ in range(n)]
    return judged({"a": "".join(str(i) for i, _ in pairs), "b": "".join(str(j) for _, j in pairs)})


def agreed(qrels, judge="a", **options):
    """Coefficients of one pair, or of all judges, by name."""
    rows = ir.agreement(qrels, resamples=2, **options).filter(pl.col("judge").eq_missing(judge))
    return dict(rows.select("coefficient", "value").rows())


def test_coefficients_of_published_tables():
    pytest.importorskip("scipy")
    fleiss = agreed(crossed([[106, 10, 4], [22, 28, 10], [2, 12, 6]]))
    assert fleiss["kappa"] == pytest.approx(3 / 7, abs=1e-12)
    assert fleiss["kappa linear"] == pytest.approx(32 / 65, abs=1e-12)
    assert fleiss["kappa quadratic"] == pytest.approx(17 / 30, abs=1e-12)
    for table, wanted in {
        ((20, 5), (10, 15)): {"kappa": 0.4, "ac1": 0.405941},
        ((40, 9), (6, 45)): {"raw": 0.85, "kappa": 0.699519, "ac1": 0.700748},
        ((80, 10), (5, 5)): {"raw": 0.85, "kappa": 0.318182, "ac1": 0.808},
    }.items():
        found = agreed(crossed(table))
        assert {name: round(found[name], 6) for name in wanted} == wanted
    assert agreed(judged({"a": "0100000010", "b": "1110010000"}))["alpha nominal"] == pytest.approx(0.095238, abs=5e-7)
    found = agreed(judged({"a": "001132224330", "b": "101112224333"}))
    assert found["alpha nominal"] == pytest.approx(0.691964, abs=5e-7)
    # Grades weigh by their values, also where one between them occurs nowhere.
    found = agreed(judged({"a": "0011330131", "b": "0113310133"}))
    assert found["kappa linear"] == pytest.approx(0.461538, abs=5e-7)
    assert found["kappa quadratic"] == pytest.approx(0.557823, abs=5e-7)


def test_alpha_of_several_judges_allows_for_documents_that_some_lack():
    pytest.importorskip("scipy")
    found = agreed(judged(FOUR), judge=None)
    wanted = {"alpha nominal": 0.743421, "alpha ordinal": 0.815388, "alpha interval": 0.849107}
    assert {name: round(value, 6) for name, value in found.items()} == wanted


def test_agreement_is_the_same_of_plans_orders_pandas_and_values_of_a_key(monkeypatch):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("scipy")
    qrels = judged(FOUR, query=lambda place: f"q{place % 3}").with_columns(year=2019)
    expected = ir.agreement(qrels, rel=2, resamples=50)
    turned = qrels.sample(fraction=1, shuffle=True, seed=3)
    # Some queries at a time, as of many rows.
    monkeypatch.setattr("polars_ir.runs.agreement.GROUPED", 5)
    assert_frame_equal(ir.agreement(turned.lazy(), rel=2, resamples=50).collect(), expected, check_exact=True)
    of_pandas = ir.agreement(turned.to_pandas(), rel=2, resamples=50)
    assert isinstance(of_pandas, pandas.DataFrame)
    assert_frame_equal(pl.from_pandas(of_pandas), expected, check_exact=True)
    later = qrels.with_columns(year=2020, relevance=pl.col("relevance") % 2)
    both = ir.agreement(pl.concat([later, qrels]), rel=2, resamples=50, by="year")
    assert_frame_equal(both.filter(year=2019).drop("year"), expected, check_exact=True)
    assert both["year"].unique().to_list() == [2019, 2020]
    renamed = qrels.rename({"judge": "annotator"}).with_columns(pl.col("relevance").cast(pl.Float64))
    assert_frame_equal(ir.agreement(renamed, judges="annotator", rel=2, resamples=50), expected, check_exact=True)


@pytest.mark.whole("imports scikit-learn")
def test_kappa_is_scikit_learns_of_random_grades():
    metrics = pytest.importorskip("sklearn.metrics")
    a, b = ("".join(str(DRAW.choice([0, 0, 1, 3])) for _ in range(200)) for _ in "ab")
    found = agreed(judged({"a": a, "b": b}))
    for name, weights in (("kappa", None), ("kappa linear", "linear"), ("kappa quadratic", "quadratic")):
        wanted = metrics.cohen_kappa_score([*map(int, a)], [*map(int, b)], labels=range(4), weights=weights)
        assert found[name] == pytest.approx(wanted, abs=1e-12)


def test_sensitivity_and_specificity_are_of_the_other_judge_whichever_that_is():
    pytest.importorskip("scipy")
    rows = ir.agreement(judged({"a": "2220", "b": "2010"}), rel=2, resamples=2)
    found = {row[:3]: row[3] for row in rows.select("judge", "other", "coefficient", "value").iter_rows()}
    assert found["a", "b", "sensitivity"] == pytest.approx(1 / 3)
    assert found["a", "b", "specificity"] == 1
    assert found["b", "a", "sensitivity"] == 1
    assert found["b", "a", "specificity"] == pytest.approx(1 / 3)
    assert found["a", "b", "kappa(rel=2)"] == pytest.approx(agreed(judged({"a": "1110", "b": "1000"}))["kappa"])


def test_documents_that_one_judge_lacks_and_unlike_grades_are_told():
    pytest.importorskip("scipy")
    qrels = judged({"a": "0123.3", "b": "0101100"}).with_columns(
        relevance=pl.when((pl.col("judge") == "b") & (pl.col("doc_id") == "d0005")).then(-1).otherwise("relevance")
    )
    first = ir.agreement(qrels, resamples=2).row(0, named=True)
    assert (first["n_documents"], first["n_queries"], first["low"]) == (4, 1, None)
    assert first["note"] == (
        "left out, as only 'a' judged them: 1 document; left out, as only 'b' judged them: 2 documents; different sets "
        "of grades: 'a' 0 1 2 3, 'b' 0 1; grades below 0 count as not judged: 1; one query has no interval"
    )
    constant = ir.agreement(judged({"a": "0000", "b": "0000"}), rel=2, resamples=2)
    notes = dict(constant.select("coefficient", "note").rows())
    assert constant.filter(pl.col("value").is_null()).height == 10
    assert notes["kappa"] == "undefined, as all grades are the same"
    assert notes["sensitivity"] == "no grade of both is 2 or more; undefined, as 'b' gives no such grade"
    three = pl.concat([judged({"a": "0123", "b": "0101"}), judged({"c": "00"}, query=lambda _: "other")])
    of_none = ir.agreement(three, resamples=2).filter(other="c").row(0, named=True)
    assert (of_none["value"], of_none["n_documents"]) == (None, 0)
    assert of_none["note"].startswith("no document in common; ")


def test_mean_by_query_is_the_mean_of_each_query_alone():
    pytest.importorskip("scipy")
    qrels = judged({"a": "012013010", "b": "002113011"}, query=lambda place: f"q{place // 3}")
    together = ir.agreement(qrels, resamples=2).select("coefficient", "mean_by_query")
    alone = [ir.agreement(rows, resamples=2).select("coefficient", "value") for rows in qrels.partition_by("query_id")]
    means = pl.concat(alone).group_by("coefficient", maintain_order=True).mean()
    assert together["coefficient"].equals(means["coefficient"])
    assert together["mean_by_query"].to_list() == pytest.approx(means["value"].to_list(), abs=1e-12)


def test_agreement_is_the_same_in_any_unit_of_the_grades():
    pytest.importorskip("scipy")
    expected = ir.agreement(judged(FOUR), resamples=2).drop("note")
    huge = judged(FOUR).with_columns(pl.col("relevance") * 2.0**530)
    assert_frame_equal(ir.agreement(huge, resamples=2).drop("note"), expected, check_exact=True)


def test_notes_name_judges_of_nothing_grades_below_0_and_a_cut_of_no_grade():
    pytest.importorskip("scipy")
    unjudged = judged({"d": "000"}).with_columns(relevance=pl.lit(-1, pl.Int64))
    three = pl.concat([judged({"a": "0123", "b": "0101", "c": "10"}), unjudged]).with_columns(year=2019)
    qrels = pl.concat([three, judged({"a": "01"}).with_columns(year=2020)])
    with pytest.warns(ir.IRWarning, match="are of one judge for 'year 2020', which the result lacks"):
        rows = ir.agreement(qrels, by="year", resamples=2, rel=9.0000001)
    assert rows["year"].unique().to_list() == [2019]
    notes = {row[:3]: row[3] for row in rows.select("judge", "other", "coefficient", "note").rows()}
    assert notes["a", "d", "raw"].endswith(
        "no document in common; left out, as only 'a' judged them: 4 documents; grades below 0 count as not judged: 3"
    )
    assert notes[None, None, "alpha nominal"].startswith("different sets of grades: 'a' 0 1 2 3, 'b' 0 1, 'c' 0 1; ")
    assert "no grade of both is 9.0000001 or more" in notes["a", "b", "kappa(rel=9.0000001)"]


def test_the_advice_for_many_grades_runs_and_agrees_as_the_grades_do():
    pytest.importorskip("scipy")
    rows = [(j, "q", f"d{d}", (d + (j == "m") * (d % 3)) / 300) for j in ("m", "p") for d in range(300)]
    qrels = pl.DataFrame(
        [*rows, ("m", "q", "x", -0.001)], schema=["judge", "query_id", "doc_id", "relevance"], orient="row"
    )
    for table in (qrels, qrels.to_pandas()):
        with pytest.raises(ir.IRError) as error:
            ir.agreement(table)
        code = str(error.value).split("range: ", 1)[1].rstrip(".")
        classes = ir.agreement(eval(code, {"qrels": table, "pl": pl}), resamples=2)  # noqa: S307  # what the message says
        kappa = dict(zip(classes["coefficient"], classes["value"], strict=True))["kappa quadratic"]
        assert 0.95 < kappa < 1
        assert classes["n_documents"][0] == 300


def test_rows_of_an_error_are_those_of_the_table():
    unjudged = PAIR.head(2).with_columns(doc_id=None, relevance=None)
    with pytest.raises(ir.IRError, match=r"(?s)\| 2  .*\| 10  "):
        ir.agreement(pl.concat([unjudged.cast(PAIR.schema), PAIR, PAIR.head(1)]))
    with pytest.raises(ir.IRError, match="by='year'"):
        ir.agreement(pl.concat([PAIR.with_columns(year=year) for year in (2019, 2020)]))


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        (lambda q: pl.concat([q, q.head(1)]), {}, r"2 rows that repeat the ids of another \(query_id, doc_id, judge\)"),
        (lambda q: q.with_columns(judge=pl.col("judge").shift()), {}, "1 row whose 'judge' is null"),
        (lambda q: q.with_columns(relevance=float("nan")), {}, "rows whose 'relevance' is null, NaN or infinite"),
        (lambda q: q.filter(judge="a"), {}, "are of one judge, 'judge' 'a'"),
        (lambda q: q.clear(), {}, "have no judgments"),
        (
            lambda q: q.with_columns(pl.concat_str("judge", "doc_id").alias("doc_id")),
            {},
            r"without a document of a query in common[\s\S]*ad0000[\s\S]*bd0000",
        ),
        (
            lambda q: pl.concat(
                q.with_columns(doc_id=pl.lit(f"d{n}"), relevance=pl.lit(n / 7)).unique() for n in range(200)
            ),
            {},
            r"have 200 different grades.*at most. Make classes of them first, .* // 2.8",
        ),
        (lambda q: q, {"judges": "juge"}, "has no 'juge' column.*Did you mean 'judge'"),
        (lambda q: q, {"by": "yaer"}, "have no column 'yaer', which by names"),
        (lambda q: q.with_columns(note=1), {"by": "note"}, "which has another meaning here. Rename it"),
        (lambda q: q.with_columns(relevance=-1), {}, "have only grades below 0, which count as not judged"),
        (lambda q: q, {"resamples": 1}, "resamples must be a whole number from 2"),
        (lambda q: q, {"rel": "2"}, "rel must be a number, or None"),
    ],
)
def test_judgments_without_an_agreement_are_refused(change, options, message, lazy):
    pytest.importorskip("scipy")
    qrels = change(judged({"a": "0123", "b": "0101"}))
    with pytest.raises(ir.IRError, match=message):
        ir.agreement(qrels.lazy() if lazy else qrels, **options)


#: Grades of documents by three judges; d was judged by none.
JURY = pl.DataFrame(
    [
        ("q", document, judge, grade)
        for document, grades in {"a": (0, 1, 3), "b": (None, 1, 2), "c": (3, 0, 0), "d": (-1,), "e": (-1, 2)}.items()
        for judge, grade in zip(("people", "m", "n"), grades, strict=False)
        if grade is not None
    ],
    schema=["qid", "docno", "judge", "rel"],
    orient="row",
)


@pytest.mark.filterwarnings("ignore:qrels have judges with different highest grades")
@pytest.mark.parametrize(
    ("how", "wanted"),
    [
        ("median", [1, 1, 0, 2]),
        ("majority", [1, 1, 0, 2]),
        ("mean", [4 / 3, 1.5, 1.0, 2.0]),
        (["people", "m"], [0, 1, 3, 2]),
        (["n", "people"], [3, 2, 0, None]),
    ],
    ids=str,
)
def test_judgments_of_several_judges_become_one(how, wanted):
    merged = ir.merge_judgments(JURY, how)
    there = [grade for grade in wanted if grade is not None]
    assert merged["relevance"].to_list() == pytest.approx(there)
    assert merged.schema["relevance"] == (pl.Float64 if how == "mean" else pl.Int64)
    assert merged.columns[:4] == ["qid", "doc_id", "relevance", "n_judges"]
    turned = JURY.sample(fraction=1, shuffle=True, seed=1)
    lazily = ir.merge_judgments(turned.lazy(), how)
    assert isinstance(lazily, pl.LazyFrame)
    assert_frame_equal(lazily.collect(engine="streaming"), merged, check_exact=True)
    # What comes out is judgments again.
    assert ir.evaluate({"q": ["a", "b", "c"]}, merged, "nDCG").height == 1


@pytest.mark.filterwarnings("ignore:qrels have judges with different highest grades")
def test_a_majority_is_of_most_judges_and_holes_name_the_judge_that_fills_them():
    votes = judged({"a": "02", "b": "02", "c": "31", "d": "32", "e": "01"})
    assert ir.merge_judgments(votes, "majority")["relevance"].to_list() == [0, 2]
    tied = judged({"a": "0", "b": "0", "c": "3", "d": "3", "e": "2"})
    assert ir.merge_judgments(tied, "majority")["relevance"].to_list() == [2]
    with pytest.warns(ir.IRWarning, match=r"judges with different highest grades, 'n' 0 2 3, 'm' 0 1 2; check"):
        merged = ir.merge_judgments(JURY, ["m", "n"])
    assert merged.select("n_judges", "judge").rows() == [(2, "m"), (2, "m"), (2, "m"), (1, "m")]
    filled = ir.merge_judgments(JURY.filter(pl.col("judge") != "n"), ["people", "m"])
    assert filled["judge"].to_list() == ["people", "m", "people", "m"]


def in_numbers(qrels):
    """Judgments whose judges are numbers."""
    return qrels.with_columns(pl.col("judge").replace_strict({"people": 6, "m": 7, "n": 8}))


@pytest.mark.parametrize("how", ["median", "majority", ["m"]], ids=str)
def test_merged_grades_are_grades_that_were_given(how):
    large = PAIR.with_columns(relevance=2**53 + 1)
    for qrels in (large, large.lazy()):
        assert set(ir.merge_judgments(qrels, how).lazy().collect()["relevance"]) == {2**53 + 1}


@pytest.mark.parametrize(
    ("change", "how", "message"),
    [
        (lambda q: q, ["poeple", "m"], "how lists 'poeple', who judged nothing"),
        (lambda q: q, [3], "how lists 3, who judged nothing"),
        (lambda q: q, [["people"]], "or a list of judges, the most trusted first; got"),
        (lambda q: q, ["m", "n", "m"], "how lists 'm' more than once"),
        (in_numbers, [6.0], "how lists 6.0, who judged nothing; 'judge' is Int64"),
        (in_numbers, ["6"], r"'judge' is Int64(, and has 6, 7, 8)?\.$"),
        (
            lambda q: q.filter(pl.col("judge") != "n").with_columns(pl.col("judge") == "m"),
            [1],
            "how lists 1, who judged nothing; 'judge' is Boolean",
        ),
        (lambda q: pl.concat([q, q.head(1)]), "mean", "the ids of another|more than once by one judge"),
        (lambda q: q.with_columns(judge=pl.col("judge").shift()), "mean", "whose 'judge' is null|judges that are null"),
        (lambda q: q, "medain", "how must be one of 'median', .*or a list of judges.*Did you mean 'median'"),
        (lambda q: q, [], "how must be one of 'median'"),
        (lambda q: q.drop("judge"), "mean", "has no 'judge' column"),
    ],
)
def test_judgments_that_can_not_be_merged_are_refused(change, how, message):
    with pytest.raises(ir.IRError, match=message):
        ir.merge_judgments(change(JURY), how)
    with pytest.raises((ir.IRError, pl.exceptions.PolarsError), match=message):
        ir.merge_judgments(change(JURY).lazy(), how).collect()
