"""A name with its tool before it has the figures of the tool: these were made with XGBoost 3.2, LightGBM 4.7, CatBoost
1.2.10 and torchmetrics 1.9, by query."""

import polars as pl
import pytest

import polars_ir as ir
from polars_ir.language.tools import AMBIGUOUS, CALLED, TOOLS

#: Grades in the order of the ranking, by query: one has no relevant document, and one no other.
GRADES = {"a": [0, 1, 0, 2, 1, 0], "b": [3, 0, 1], "c": [0, 0, 0, 0], "d": [1, 1], "e": [0, 0, 2, 0, 0, 0, 1, 1, 0, 3]}
LABELLED = pl.DataFrame(
    [
        (query, f"d{place}", 1 - 0.05 * place, grade)
        for query, grades in GRADES.items()
        for place, grade in enumerate(grades)
    ],
    schema=["query_id", "doc_id", "score", "relevance"],
    orient="row",
)
BINARY = LABELLED.with_columns(pl.col("relevance").clip(0, 1))
SHARES = LABELLED.with_columns(pl.col("relevance") / 4)

FIGURES = [
    (LABELLED, "XGBoost ndcg", [0.559151, 0.982842, 1, 1, 0.424723]),
    (LABELLED, "XGBoost ndcg@3", [0.152733, 0.982842, 1, 1, 0.159697]),
    (LABELLED, "XGBoost ndcg@3-", [0.152733, 0.982842, 0, 1, 0.159697]),
    (BINARY, "XGBoost map", [0.533333, 0.833333, 1, 1, 0.348512]),
    (BINARY, "XGBoost map@3", [0.166667, 0.833333, 1, 1, 0.111111]),
    (BINARY, "XGBoost map@3-", [0.166667, 0.833333, 0, 1, 0.111111]),
    (BINARY, "XGBoost pre@3", [0.333333, 0.666667, 0, 1, 0.333333]),
    (BINARY, "XGBoost pre@5", [0.6, 0.666667, 0, 1, 0.2]),
    (LABELLED, "LightGBM ndcg@3", [0.152733, 0.982842, 1, 1, 0.159697]),
    (LABELLED, "LightGBM map@3", [0.166667, 0.833333, 1, 1, 0.111111]),
    (LABELLED, "CatBoost NDCG", [0.600185, 0.96394, 1, 1, 0.48454]),
    (LABELLED, "CatBoost NDCG:top=3", [0.201515, 0.96394, 1, 1, 0.210002]),
    (LABELLED, "CatBoost DCG:top=3", [0.63093, 3.5, 0, 1.63093, 1]),
    (LABELLED, "CatBoost MAP:top=3", [0.166667, 0.833333, 0, 1, 0.111111]),
    (LABELLED, "CatBoost PrecisionAt:top=5", [0.6, 0.666667, 0, 1, 0.2]),
    (LABELLED, "CatBoost RecallAt:top=3", [0.333333, 1, 1, 1, 0.25]),
    (LABELLED, "CatBoost MRR:top=2", [0.5, 1, 0, 1, 0]),
    (SHARES, "CatBoost ERR", [0.2375, 0.770833, 0, 0.34375, 0.217336]),
    (SHARES, "CatBoost ERR:top=3", [0.125, 0.770833, 0, 0.34375, 0.166667]),
    (SHARES, "CatBoost PFound", [0.491735, 0.795156, 0, 0.409375, 0.487304]),
    (SHARES, "CatBoost PFound:top=3", [0.2125, 0.795156, 0, 0.409375, 0.36125]),
    # Where no other document is there, this one is 1.
    (BINARY, "CatBoost QueryAUC", [0.444444, 0.5, 0, 1, 0.25]),
    (BINARY, "torchmetrics MAP@3", [0.5, 0.833333, 0, 1, 0.333333]),
    (BINARY, "torchmetrics retrieval_average_precision(top_k=3)", [0.5, 0.833333, 0, 1, 0.333333]),
    (BINARY, "torchmetrics retrieval_precision", [0.5, 0.666667, 0, 1, 0.4]),
    (BINARY, "torchmetrics retrieval_precision(top_k=3)", [0.333333, 0.666667, 0, 0.666667, 0.333333]),
    (BINARY, "torchmetrics retrieval_hit_rate(top_k=3)", [1, 1, 0, 1, 1]),
    (BINARY, "torchmetrics retrieval_r_precision", [0.333333, 0.5, 0, 1, 0.25]),
    (LABELLED, "torchmetrics retrieval_normalized_dcg(top_k=3)", [0.201515, 0.96394, 0, 1, 0.210002]),
    # Of ranks 1, 2 and 3, over as many of them as there are positives.
    (BINARY, "Cornac NCRR@3", [(1 / 2) / (1 + 1 / 2 + 1 / 3), (1 + 1 / 3) / (1 + 1 / 2), 0, 1, (1 / 3) / (11 / 6)]),
    # By their formulas. LensKit and CatBoost divide by what there is, TF-Ranking too.
    (BINARY, "LensKit Precision@5", [3 / 5, 2 / 3, 0, 1, 1 / 5]),
    (BINARY, "LensKit Recall@3", [1 / 3, 1, 0, 1, 1 / 3]),
    (BINARY, "TF-Ranking hits@1", [0, 1, 0, 1, 0]),
    (BINARY, "sentence-transformers accuracy@1", [0, 1, 0, 1, 0]),
    (BINARY, "sentence-transformers map@3", [1 / 6, 5 / 6, 0, 1, 1 / 9]),
    (BINARY, "Haystack DocumentMAPEvaluator", [(1 / 2 + 2 / 4 + 3 / 5) / 3, 5 / 6, 0, 1, 0.348512]),
    # The ideal list of LlamaIndex 0.12.6 and later has all relevant documents, whatever the cutoff.
    (BINARY, "LlamaIndex ndcg@2", [0.63093 / 2.13093, 1 / 1.63093, 0, 1, 0]),
    (BINARY, "RecTools NDCG@2", [0.63093 / 1.63093, 1 / 1.63093, 0, 1, 0]),
    (BINARY, "RePlay MAP@3", [1 / 6, 5 / 6, 0, 1, 1 / 9]),
    (BINARY, "RePlay NDCG@2", [0.63093 / 1.63093, 1 / 1.63093, 0, 1, 0]),
    (LABELLED, "Evidently MAP@3", [1 / 6, 5 / 6, 0, 1, 1 / 12]),
]


@pytest.mark.parametrize(("labelled", "name", "figures"), FIGURES, ids=[name for _, name, _ in FIGURES])
def test_a_name_in_the_words_of_a_tool_has_its_figures(labelled, name, figures):
    found = ir.evaluate(labelled, None, name).sort("query_id")
    assert found.to_series(1).to_list() == pytest.approx(figures, abs=1e-6)


@pytest.mark.filterwarnings("ignore:no grade of the qrels is above 0")
def test_scikit_learn_has_the_same_figures():
    metrics = pytest.importorskip("sklearn.metrics")
    for query, rows in BINARY.group_by("query_id"):
        labels, scores = [rows["relevance"].to_list()], [rows["score"].to_list()]
        names = {"label_ranking_average_precision_score": {}, "ndcg_score": {"k": 3}, "dcg_score": {"k": 3}}
        for name, options in names.items():
            k = f"@{options['k']}" if options else ""
            ours = ir.evaluate(rows, None, f"sklearn {name}{k}").item(0, 1)
            assert ours == pytest.approx(getattr(metrics, name)(labels, scores, **options)), (query, name)


def test_every_name_of_a_tool_is_read_or_says_why_not():
    for tool, names in TOOLS.items():
        for name, meaning in names.items():
            if meaning.measure and not meaning.of_exposure:
                assert ir.parse(f"{tool} {name}").meta.output_name()
                assert meaning.undefined in (0, 1)
                continue
            says = "use exposure for it" if meaning.measure else r"\w+s "
            with pytest.raises(ir.IRError, match=f"{tool} {name}' .*{says}|'{name}' of {tool} {says}"):
                ir.parse(f"{tool} {name}")


def test_tools_have_other_names_and_case_does_not_matter():
    for name, tool in CALLED.items():
        assert tool in TOOLS
        measure = next(measure for measure, meaning in TOOLS[tool].items() if meaning.measure)
        assert ir.parse(f"{name.upper()} {measure}").meta.eq(ir.parse(f"{tool} {measure}"))


def test_a_name_that_is_not_ours_alone_is_an_ambiguous_one():
    for name, tools in AMBIGUOUS.items():
        assert len({ir.parse(f"{tool} {name}").meta.output_name() for tool in tools}) > 1
        with pytest.raises(ir.IRError, match="means"):
            ir.parse(name)


def test_a_column_in_the_words_of_a_tool_is_one_of_a_measure():
    per_query = ir.evaluate({"a": BINARY.drop("relevance")}, BINARY.drop("score"), ["xgboost map@3", "nDCG@3"])
    assert per_query.columns[2:] == ["XGBoost map@3", "nDCG@3"]
    assert ir.mean(per_query).columns[1:] == ["XGBoost map@3", "nDCG@3"]
