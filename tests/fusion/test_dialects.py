"""The meaning of a name in each product, worked by hand from its source on two short lists."""

import json
import math
from pathlib import Path

import polars as pl
import pytest

import polars_ir as ir

#: `x` is first in one list and second in the other; `y` only first in the second, `z` only second in the first.
A, B = {"q": {"x": 5.0, "z": 1.0}}, {"q": {"y": 0.9, "x": 0.3}}


def _scores(*arguments: object, runs: object = (A, B), **options: object) -> dict[str, float]:
    return dict(ir.fuse(list(runs), *arguments, **options).select("doc_id", "score").rows())


RRF = {
    # Cormack et al. 2009; Elasticsearch and OpenSearch with weights.
    "paper": (None, {"x": 1 / 61 + 1 / 62, "y": 1 / 61, "z": 1 / 62}),
    "elasticsearch": ([2, 1], {"x": 2 / 61 + 1 / 62, "y": 1 / 61, "z": 2 / 62}),
    "opensearch": ([2, 1], {"x": 2 / 61 + 1 / 62, "y": 1 / 61, "z": 2 / 62}),
    # hybrid search's rankedFusion: weight / (60 + i), i from 0.
    "weaviate": ([2, 1], {"x": 2 / 60 + 1 / 61, "y": 1 / 60, "z": 2 / 61}),
    "llamaindex": (None, {"x": 1 / 60 + 1 / 61, "y": 1 / 60, "z": 1 / 61}),
    "chroma": ([2, 1], {"x": 2 / 60 + 1 / 61, "y": 1 / 60, "z": 2 / 61}),
    # 1 / ((i + 1) / w + k - 1), k = 2.
    "qdrant": ([2, 1], {"x": 1 / (1 / 2 + 1) + 1 / (2 + 1), "y": 1 / (1 + 1), "z": 1 / (2 / 2 + 1)}),
    # Weights (2/3, 1/3) times the number of lists / (61 + i), in the end divided by that number / 61.
    "haystack": (
        [2, 1],
        {
            "x": (4 / 3 / 61 + 2 / 3 / 62) / (2 / 61),
            "y": (2 / 3 / 61) / (2 / 61),
            "z": (4 / 3 / 62) / (2 / 61),
        },
    ),
    "ranx": (None, {"x": 1 / 61 + 1 / 62, "y": 1 / 61, "z": 1 / 62}),
}


@pytest.mark.parametrize("product", RRF)
def test_reciprocal_rank_fusion(product):
    weights, expected = RRF[product]
    assert _scores(dialect=product, weights=weights) == pytest.approx(expected, rel=1e-14)


def test_pyserini_reads_the_rank_column():
    """Ranks of a TREC file, which the scores contradict and need not be 1, 2, 3."""
    runs = [
        pl.DataFrame({"query_id": "q", "doc_id": ["x", "z"], "rank": [7, 2], "score": [9.0, 1.0]}),
        pl.DataFrame({"query_id": "q", "doc_id": ["y", "x"], "rank": [1, 2], "score": [1.0, 9.0]}),
    ]
    expected = {"x": 1 / 67 + 1 / 62, "z": 1 / 62, "y": 1 / 61}
    assert _scores(runs=runs, dialect="pyserini") == pytest.approx(expected, rel=1e-14)
    with pytest.raises(ir.IRError, match="no 'rank' column"):
        ir.fuse([A, B], dialect="pyserini")


def test_a_weight_of_zero_contributes_nothing_in_qdrant():
    assert _scores(dialect="qdrant", weights=[1, 0]) == {"x": 1 / 2, "z": 1 / 3, "y": 0.0}


def _by_three_deviations(score: float, scores: list[float], ddof: int) -> float:
    mean = sum(scores) / len(scores)
    deviation = math.sqrt(sum((s - mean) ** 2 for s in scores) / (len(scores) - ddof))
    return (score - (mean - 3 * deviation)) / (6 * deviation)


def test_qdrant_adds_scores_by_the_deviation_of_the_sample():
    x = _by_three_deviations(5, [5, 1], 1) + _by_three_deviations(0.3, [0.9, 0.3], 1)
    assert _scores("dbsf", dialect="qdrant")["x"] == pytest.approx(x, rel=1e-12)


def test_haystack_takes_the_highest_by_the_deviation_of_the_population():
    x = max(_by_three_deviations(5, [5, 1], 0), _by_three_deviations(0.3, [0.9, 0.3], 0))
    assert _scores("dbsf", dialect="haystack")["x"] == pytest.approx(x, rel=1e-12)


def test_llamaindex_adds_by_weight_and_the_deviation_of_the_population():
    x = 2 * _by_three_deviations(5, [5, 1], 0) + _by_three_deviations(0.3, [0.9, 0.3], 0)
    assert _scores("dbsf", dialect="llamaindex", weights=[2, 1])["x"] == pytest.approx(x, rel=1e-12)


#: The normalized values of equal scores of 3, of -3, and of the score 4 of a single document.
CONSTANT = {
    (None, "min-max"): (1, 1, 1),
    ("weaviate", "min-max"): (1, 1, 1),
    ("opensearch", "min-max"): (1, 1, 1),
    ("elasticsearch", "min-max"): (3, -3, 4),
    ("qdrant", "min-max"): (0.5, 0.5, 4),
    ("llamaindex", "min-max"): (1, 0, 1),
    ("ranx", "min-max"): (0, 0, 0),
    (None, "dbsf"): (0.5, 0.5, 0.5),
    (None, "z"): (0, 0, 0),
    (None, "sum"): (0.5, 0.5, 1),
    ("ranx", "sum"): (0, 0, 0),
}


@pytest.mark.parametrize(("product", "norm"), CONSTANT)
def test_constant_scores(product, norm):
    runs = [
        {"q": {"a": 3.0, "b": 3.0}, "r": {"a": -3.0, "b": -3.0}, "s": {"a": 4.0}},
        {"q": {"c": 1.0, "d": 0.0}, "r": {"c": 1.0}, "s": {"c": 1.0}},
    ]
    fused = ir.fuse(runs, "sum", norm=norm, dialect=product).filter(doc_id="a")
    assert tuple(fused.sort("query_id")["score"]) == CONSTANT[product, norm]


@pytest.mark.parametrize(("product", "constant"), [("qdrant", 0.5), ("haystack", 0.0)])
def test_constant_scores_of_distribution_based_fusion(product, constant):
    runs = [{"q": {"a": 3.0, "b": 3.0}}, {"q": {"c": 1.0, "d": 0.0}}]
    assert _scores("dbsf", runs=runs, dialect=product)["a"] == constant


def test_the_lowest_score_of_opensearch_is_not_zero():
    assert _scores("sum", norm="min-max", dialect="opensearch")["z"] == 0.001


def test_the_means_of_opensearch():
    """The arithmetic mean counts what is absent as 0; the others skip it."""
    found = {name: _scores(name, dialect="opensearch", weights=[1, 3]) for name in ("mean", "geometric", "harmonic")}
    assert found["mean"] == pytest.approx({"x": (5 + 3 * 0.3) / 4, "y": 3 * 0.9 / 4, "z": 1 / 4})
    assert found["geometric"] == pytest.approx({"x": (5 * 0.3**3) ** (1 / 4), "y": 0.9, "z": 1})
    assert found["harmonic"] == pytest.approx({"x": 4 / (1 / 5 + 3 / 0.3), "y": 0.9, "z": 1})


def test_theoretical_ends_of_the_scale():
    """TM2C2: BM25 starts at 0, a cosine at -1."""
    norm = ir.fusion.min_max(minimum={"bm25": 0, "dense": -1})
    fused = ir.fuse({"bm25": A, "dense": B}, "sum", norm=norm, weights={"bm25": 0.2, "dense": 0.8})
    expected = {"x": 0.2 * 1 + 0.8 * 1.3 / 1.9, "y": 0.8, "z": 0.2 * 0.2}
    assert dict(fused.select("doc_id", "score").rows()) == pytest.approx(expected)


def test_every_dialect_is_a_method_or_a_norm_that_can_be_called():
    for dialect in ir.fusion.DIALECTS:
        assert (dialect.method is None) != (dialect.norm is None)
        if not dialect.by_rank_column:
            options = {"method": dialect.name} if dialect.method else {"method": "sum", "norm": dialect.name}
            assert ir.fuse([A, B], dialect=dialect.product, **options).height == 3


def test_the_page_of_the_book_lists_every_dialect():
    notebook = json.loads((Path(__file__).parents[2] / "notebooks" / "fusion.ipynb").read_text("utf-8"))
    page = "".join("".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "markdown")
    for dialect in ir.fusion.DIALECTS:
        assert f"| {dialect.product} | `{dialect.name}` | {dialect.formula} |" in page


def test_a_norm_of_ones_own_goes_with_a_dialect():
    runs = {"a": {"q": {"x": 4.0, "y": 1.0}}, "b": {"q": {"y": 2.0}}}
    own = pl.col("score") / pl.col("score").max()
    assert ir.fuse(runs, "rrf", norm=own, dialect="qdrant").equals(ir.fuse(runs, "rrf", dialect="qdrant"))
    with pytest.raises(ir.IRError, match="'qdrant' is known for 'rrf', 'dbsf', 'min-max'"):
        ir.fuse(runs, "sum", norm=own, dialect="qdrant")
