"""Judges of TREC: people and models on the same documents, with the figures that papers print."""

from pathlib import Path

import polars as pl
import pytest

import polars_ir as ir

JUDGES = Path(__file__).resolve().parents[3] / "shared" / "data" / "judges"
pytestmark = [
    pytest.mark.skipif(not JUDGES.is_dir(), reason="needs judgments of TREC"),
    pytest.mark.whole("judgments of two years of TREC"),
]
pytest.importorskip("scipy")

MODELS = ("llama70b", "llama8b", "flant5")
COLUMNS = ("raw", "kappa", "kappa linear", "kappa quadratic", "kappa(rel=2)")
COLUMNS += ("alpha nominal", "alpha ordinal", "alpha interval", "ac1")

#: Figures to the digits that they are published in.
PUBLISHED = {
    ("rag25", "umbrela2"): (0.4412, 0.2333, 0.3729, 0.4918, 0.4310, 0.2282, 0.4926, 0.4890, 0.3177),
    ("dl19", "llama70b"): (0.3752, 0.1666, 0.3255, 0.4611, 0.3877, 0.1190, 0.3912, 0.4079, 0.1817),
    ("dl19", "llama8b"): (0.3313, 0.1237, 0.2179, 0.3019, 0.2133, 0.0449, 0.1817, 0.1847, 0.1278),
    ("dl19", "flant5"): (0.4794, 0.2272, 0.3389, 0.4477, 0.3220, 0.1925, 0.4521, 0.4476, 0.3369),
    ("dl20", "llama70b"): (0.4010, 0.1628, 0.2951, 0.4186, 0.3025, 0.0940, 0.3022, 0.3483, 0.2317),
    ("dl20", "llama8b"): (0.3440, 0.1250, 0.2042, 0.2746, 0.1673, 0.0128, 0.1212, 0.1298, 0.1574),
    ("dl20", "flant5"): (0.5259, 0.1878, 0.2711, 0.3637, 0.2431, 0.1579, 0.3376, 0.3567, 0.4164),
}

#: The interval of kappa, and the mean of the queries' own.
INTERVALS = {
    ("rag25", "umbrela2"): (0.195, 0.272, 0.205),
    ("dl19", "llama70b"): (0.124, 0.212, 0.136),
    ("dl19", "flant5"): (0.178, 0.276, 0.218),
}


def qrels_of(collection, *judges):
    return pl.concat(
        ir.read_qrels(JUDGES / f"{collection}.{judge}.txt.gz").with_columns(judge=pl.lit(judge)) for judge in judges
    )


@pytest.fixture(scope="module")
def found():
    tables = {"rag25": ("umbrela2",), "dl19": MODELS, "dl20": MODELS}
    return {name: ir.agreement(qrels_of(name, "people", *models), rel=2) for name, models in tables.items()}


@pytest.mark.parametrize("pair", PUBLISHED, ids=" ".join)
def test_agreement_with_people_is_the_published_one(found, pair):
    collection, model = pair
    of_pair = found[collection].filter(
        pl.col("judge").is_in(["people", model]), pl.col("other").is_in(["people", model])
    )
    of_pair = of_pair.filter(pl.col("coefficient").is_in(COLUMNS))
    rows = {row["coefficient"]: row for row in of_pair.to_dicts()}
    assert tuple(round(rows[name]["value"], 4) for name in COLUMNS) == PUBLISHED[pair]
    if pair in INTERVALS:
        *ends, mean = INTERVALS[pair]
        assert [rows["kappa"]["low"], rows["kappa"]["high"]] == pytest.approx(ends, abs=0.006)
        assert round(rows["kappa"]["mean_by_query"], 3) == mean


def test_alpha_of_all_four_judges_is_the_published_one(found):
    of_all = found["dl19"].filter(pl.col("judge").is_null())["value"].to_list()
    assert [round(value, 4) for value in of_all] == [0.1745, 0.4147, 0.4229]


def test_figures_by_each_judge_are_the_published_ones():
    runs = {model: qrels_of("dl19", model).select("query_id", "doc_id", score="relevance") for model in MODELS}
    means = ir.mean(ir.evaluate(runs, qrels_of("dl19", "people", *MODELS), "nDCG@10", by="judge"), by="judge")
    figures = {(row["judge"], row["run"]): row["nDCG@10"] for row in means.to_dicts()}
    assert round(figures["people", "llama70b"], 6) == 0.688997
    assert round(figures["people", "llama8b"], 6) == 0.560909
    assert round(figures["people", "flant5"], 6) == 0.633852
    assert round(figures["llama70b", "flant5"], 6) == 0.826430
    assert round(figures["flant5", "llama8b"], 6) == 0.583736


def test_a_median_of_models_agrees_less_than_the_best_of_them():
    both = pl.concat([qrels_of(name, "people", *MODELS) for name in ("dl19", "dl20")])
    jury = ir.merge_judgments(both.filter(pl.col("judge") != "people"), "median")
    jury = jury.select("query_id", "doc_id", "relevance", judge=pl.lit("jury"))
    found = ir.agreement(pl.concat([both.select(jury.columns), jury]), resamples=2)
    kappa = found.filter(coefficient="kappa")
    assert round(kappa.filter(judge="jury", other="people")["value"].item(), 3) == 0.175
    assert round(kappa.filter(judge="flant5", other="people")["value"].item(), 3) == 0.210
