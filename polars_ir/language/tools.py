"""The meaning of a measure's name, and the names that tools use for something else than is meant here, a line for each.

Conventions: with the tool before it a name means what it means there (`"xgboost map@10"`); so do the names that
measures list themselves (`also`), which are read without the tool, too.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

import polars as pl

from polars_ir.errors import fold
from polars_ir.language.catalog import CATALOG, MeasureInfo

#: The chance to satisfy of a grade from 0 to 1, as what `(2^gain - 1) / 2^4` makes a chance of again.
CHANCE = (16 * pl.col("relevance") + 1).log(2).alias("chance")

#: The chance to go on of a reader whom a document satisfies by its grade from 0 to 1, and who tires.
TIRING = (0.85 * (1 - pl.field("gained"))).alias("tiring")


class ToolName(NamedTuple):
    """The meaning of a name: a measure with its parameters, none where there is no such, and what else is to be known.

    A bare parameter is that which the number behind the name sets, as in `P(k)`. `undefined` is the value of a query
    without a relevant document, and `given` are parameters that no text can write. `catalogue` is the table of a call
    of `exposure`, "items" or "history", whose items give the tool's figure.
    """

    measure: str
    note: str = ""
    undefined: float = 0.0
    given: Mapping[str, pl.Expr] = MappingProxyType({})
    catalogue: str = ""

    @property
    def of_exposure(self) -> bool:
        """True for a measure of all users together, which `exposure` has and the catalogue of measures has not."""
        return self.measure.partition("(")[0] in OF_EXPOSURE.values()

    @property
    def info(self) -> MeasureInfo:
        """The entry of the measure in the catalogue."""
        return CATALOG[self.measure.partition("(")[0]]

    @property
    def implied(self) -> str:
        """The parameters, as text."""
        return self.measure.partition("(")[2].removesuffix(")")

    @property
    def sets_one(self) -> bool:
        """True where the name implies the parameter that the number sets."""
        return self.implied.isidentifier()


#: Measures of `exposure` by their folded names, and by another spelling.
OF_EXPOSURE = {fold(name): name for name in ("ItemCoverage", "Gini", "Entropy", "Personalisation")}
OF_EXPOSURE["personalization"] = "Personalisation"

#: The catalogue of a call of `exposure`, as code, by the table that it is of.
CATALOGUES = {"": "history=train", "history": "history=train", "items": "items=items"}

AP_OF_BEST = "AP(denominator='min(k,R)')"
BINARY = "nDCG(dcg='binary')"
EXPONENTIAL = "nDCG(dcg='exp-log2')"
OF_LIST = "P(denominator='min(k,n)')"
CUT_RANKS = "cuts the average ranks of documents with equal scores to whole numbers"
ONE = "counts 1 for a query without a relevant document"
OF_ALL_ROWS = "is of all rows as one list, not of each query"

#: Of tools for recommenders.
OF_RANKED_HITS = "counts the novelty of relevant items by their rank; 'Serendipity' is of these, 'Novelty' of all"
OF_LOG = "has the items of the whole log, and [PAD]: give"

#: Of tools for answers from retrieved documents.
OF_HITS = "AP(denominator='hits')"
BY_VERDICTS = "takes the verdicts of a model: make them the judgments"
OF_ANSWER = "counts {} that a model judges, and no documents"
LEAVES_OUT = "skips questions for which nothing {}, here 0"

TOOLS: Mapping[str, Mapping[str, ToolName]] = {
    "AutoRAG": {
        "map": ToolName("", "is the mean over groups of AP(denominator='hits'), each of one group's documents"),
        "f1": ToolName("", "combines its recall of groups and its precision; 'F' is of documents alone"),
        "mrr": ToolName("GroupRR"),
        "ndcg": ToolName("nDCG(dcg='binary',denominator='R')", "counts a repeated document again"),
        "precision": ToolName(OF_LIST),
        "recall": ToolName("StRecall"),
        "retrieval_token_recall": ToolName("", "is of the words of texts, and of no documents"),
    },
    "BEIR": {"Accuracy": ToolName("Success")},
    "CatBoost": {
        "DCG": ToolName("DCG"),
        "ERR": ToolName("ERR", "takes grades from 0 to 1, the chances to satisfy themselves", given={"gains": CHANCE}),
        "MAP": ToolName(AP_OF_BEST),
        "MRR": ToolName("RR"),
        "NDCG": ToolName("nDCG", f"{ONE}; with type=Exp it is {EXPONENTIAL}", 1.0),
        "PFound": ToolName(
            "CWL_total", "takes grades from 0 to 1, and its decay of 0.85", given={"continuation": TIRING}
        ),
        "PrecisionAt": ToolName(OF_LIST),
        "QueryAUC": ToolName("Accuracy", "counts 0 where all documents are relevant, here 1"),
        "RecallAt": ToolName("R", ONE, 1.0),
    },
    "Cornac": {
        "AUC": ToolName("Accuracy"),
        "FMeasure": ToolName("F"),
        "MAP": ToolName("AP"),
        "MRR": ToolName("RR"),
        "NCRR": ToolName("nDCG(dcg='binary',discount='rank')"),
        "NDCG": ToolName(BINARY),
        "Precision": ToolName("P"),
        "Recall": ToolName("R"),
    },
    "DeepEval": {
        "ContextualPrecision": ToolName(OF_HITS, f"{BY_VERDICTS}; contexts of one source are merged first"),
        "ContextualRecall": ToolName("", OF_ANSWER.format("sentences of the expected answer")),
        "ContextualRelevancy": ToolName("", OF_ANSWER.format("statements of the contexts")),
    },
    "Elliot": {
        "ACLT": ToolName("", "counts the items of the tail: 'APLT' times the length of the list"),
        "APLT": ToolName("Tail(cold='neither')", "takes equally popular items into the head in the order of its data"),
        "EFD": ToolName("", OF_RANKED_HITS),
        "EPC": ToolName("", OF_RANKED_HITS),
        "Gini": ToolName(
            "", "is 1 - Gini m / (m - 1), m items of train: high where even; 'Gini' of exposure is low there"
        ),
        "HR": ToolName("Success"),
        "ItemCoverage": ToolName("", "is a count: 'ItemCoverage' of exposure, times the items of the catalogue"),
        "MAP": ToolName("", "is the mean of P@1 to P@k, and no average precision"),
        "MRR": ToolName("RR"),
        "nDCG": ToolName("", "counts 2^(rating - threshold + 1) - 1 as the gain: make it the grade, and take 'nDCG'"),
        "Precision": ToolName("P"),
        "Recall": ToolName("R"),
        "SEntropy": ToolName(
            "", "is the mean self-information of a list's items over users; 'Entropy' of exposure is of all"
        ),
        "UserCoverage": ToolName("", "is the number of users with a list, n_queries of .ir.coverage(qrels)"),
    },
    "Evidently": {
        "DiversityMetric": ToolName("", "is 'ILD(of=...)' times (n - 1) / 2: it divides by items, not pairs"),
        "HitRate": ToolName("Success", CUT_RANKS),
        "MAP": ToolName("AP", CUT_RANKS),
        "MRR": ToolName("RR", CUT_RANKS),
        "NDCG": ToolName("nDCG", CUT_RANKS),
        "NoveltyMetric": ToolName("Novelty(cold='skip')"),
        "PersonalizationMetric": ToolName(
            "", "takes every list for one of k items; 'Personalisation' of exposure has the same where they are"
        ),
        "PopularityBias": ToolName("", "holds a mean popularity, a coverage, and a Gini of recommended items alone"),
        "RecallTopK": ToolName("R", CUT_RANKS),
        "SerendipityMetric": ToolName("", "is 1 less the sum of the similarities of hits to what the user had"),
    },
    "Haystack": {
        "DocumentMAPEvaluator": ToolName("AP", "divides by the number of hits before version 3.1"),
        "DocumentMRREvaluator": ToolName("RR"),
        "DocumentNDCGEvaluator": ToolName("nDCG(denominator='R')"),
        "DocumentRecallEvaluator": ToolName("Success", "in the mode single_hit, the default; multi_hit is R"),
    },
    "implicit": {
        "AUC_at_k": ToolName("", "places the items that a list lacks at random among all of the catalogue"),
        "mean_average_precision_at_k": ToolName(
            "AP(k=10,denominator='min(k,R)')", "leaves users without test items out"
        ),
        "ndcg_at_k": ToolName("nDCG(k=10,dcg='binary')", "leaves users without test items out"),
        "precision_at_k": ToolName(
            "", "is 'R_cap@10' over all users: evaluate 'NumRel', too, and take .ir.mean(average='micro')"
        ),
    },
    "LensKit": {
        "AveragePrecision": ToolName(AP_OF_BEST, "divides by min(n, R), of a list of n < k items"),
        "Entropy": ToolName("", "is of the categories of one list; 'ILD' compares these in pairs"),
        "ExposureGini": ToolName("Gini(p=0.85)", catalogue="items"),
        "Hit": ToolName("Success"),
        "ILS": ToolName("", "is 1 - 'ILD(of=...)', but 1 for a list of one item"),
        "ListGini": ToolName(
            "Gini",
            "divides by the size of its vocabulary, whichever items these are: give all as items",
            catalogue="items",
        ),
        "MeanPopRank": ToolName("", "is the mean rank by popularity, 1 for the most popular; 'Popularity' is of users"),
        "NDCG": ToolName("nDCG(dcg='binary',discount='jarvelin')"),
        "Precision": ToolName(OF_LIST),
        "RBP": ToolName("RBP(p=0.85)"),
        "Recall": ToolName("R_cap"),
        "RecipRank": ToolName("RR"),
    },
    "LightFM": {
        "auc_score": ToolName("Accuracy", "leaves users without test items out"),
        "precision_at_k": ToolName("P(k=10)", "leaves users without test items out"),
        "recall_at_k": ToolName("R(k=10)", "leaves users without test items out"),
        "reciprocal_rank": ToolName("RR", "leaves users without test items out"),
    },
    "LightGBM": {
        "auc": ToolName("", f"{OF_ALL_ROWS}, whose measure is 'Accuracy'"),
        "map": ToolName(AP_OF_BEST, ONE, 1.0),
        "ndcg": ToolName(EXPONENTIAL, ONE, 1.0),
    },
    "LlamaIndex": {
        "ap": ToolName("AP"),
        "hit_rate": ToolName("Success"),
        "mrr": ToolName("RR"),
        "ndcg": ToolName(
            "nDCG(dcg='binary',denominator='R')",
            "its ideal list was as long as the retrieved one before version 0.12.6",
        ),
        "precision": ToolName(OF_LIST),
        "recall": ToolName("R"),
    },
    "MLflow": {
        "ndcg": ToolName("", "is of an ideal list as long as the retrieved one, so that a lone hit is 1"),
        "precision": ToolName(OF_LIST),
        "recall": ToolName("R", "counts 1 where nothing is relevant and nothing retrieved, here 0"),
    },
    "MultiHop-RAG": {
        "Hits": ToolName("Success"),
        "MAP": ToolName("GroupRR", "divides by the cutoff where a question has more facts"),
        "MRR": ToolName("RR"),
    },
    "Phoenix": {
        "hit": ToolName("Success"),
        "ndcg": ToolName(
            "", "is of an ideal list of the retrieved documents: evaluate 'nDCG' with the qrels of these alone"
        ),
        "precision": ToolName("P", "is NaN beside a document without a label"),
        "reciprocal_rank": ToolName("RR"),
    },
    "ragas": {
        "ContextEntityRecall": ToolName("", OF_ANSWER.format("entities of the expected answer")),
        "ContextPrecision": ToolName(OF_HITS, BY_VERDICTS),
        "ContextPrecisionWithoutReference": ToolName(OF_HITS, BY_VERDICTS),
        "ContextPrecisionWithReference": ToolName(OF_HITS, BY_VERDICTS),
        "ContextRecall": ToolName("", OF_ANSWER.format("sentences of the expected answer")),
        "ContextUtilization": ToolName(OF_HITS, BY_VERDICTS),
        "IDBasedContextPrecision": ToolName("SetP", LEAVES_OUT.format("was retrieved")),
        "IDBasedContextRecall": ToolName("SetR", LEAVES_OUT.format("is relevant")),
        "NonLLMContextPrecisionWithReference": ToolName(
            OF_HITS, "compares texts, relevant from a similarity of .5, and adds 1e-10 to the hits"
        ),
        "NonLLMContextRecall": ToolName("SetR", "compares texts, found above a similarity of .5"),
    },
    "RecBole": {
        "averagepopularity": ToolName("Popularity", "counts rows of the history, and rounds the mean to 4 digits"),
        "GAUC": ToolName("", "is 'Accuracy' by positives: evaluate 'NumRel', too, and take .ir.mean(weights='NumRel')"),
        "giniindex": ToolName("Gini(extra=1)", f"{OF_LOG} all of these as items", catalogue="items"),
        "itemcoverage": ToolName("ItemCoverage(extra=1)", f"{OF_LOG} these as items", catalogue="items"),
        "MAP": ToolName(AP_OF_BEST),
        "MRR": ToolName("RR"),
        "NDCG": ToolName(BINARY),
        "Precision": ToolName("P"),
        "Recall": ToolName("R"),
        "shannonentropy": ToolName("", "is in nats, divided by the number of recommended items: Entropy ln(2) / that"),
        "tailpercentage": ToolName("", "counts the least popular tenth of the items; 'Tail' goes by pairs"),
    },
    "RecTools": {
        "AvgRecPopularity": ToolName("Popularity", "counts rows of the history, here users; normalize=True divides it"),
        "CatalogCoverage": ToolName("ItemCoverage", "is a count unless normalize=True", catalogue="items"),
        "CoveredUsers": ToolName("", "is the share of test users with a list: that of 'NumRet' above 0"),
        "Intersection": ToolName("", "is the overlap of two runs: run.ir.similarity(other)"),
        "IntraListDiversity": ToolName("", "counts the features in which two items differ; 'ILD(of=...)' is by cosine"),
        "NDCG": ToolName("nDCG(dcg='binary',denominator='k')", f"with divide_by_achievable=True it is {BINARY}"),
        "SufficientReco": ToolName("", "is the share of k places that are filled: 'NumRet' divided by k"),
        "UnrepeatedReco": ToolName("", "is the share of items that no list repeats; here a repeated one is an error"),
    },
    "RePlay": {
        "CategoricalDiversity": ToolName("", "is the number of categories in the list, divided by k"),
        "Coverage": ToolName("ItemCoverage", catalogue="history"),
        "HitRate": ToolName("Success"),
        "MAP": ToolName(AP_OF_BEST),
        "MRR": ToolName("RR"),
        "NDCG": ToolName(BINARY),
        "Novelty": ToolName("", "is 1 - 'Seen', and 1 for a user of the history without a list"),
        "Precision": ToolName("P"),
        "Recall": ToolName("R"),
        "Surprisal": ToolName("Novelty(base='users',denominator='k')"),
        "Unexpectedness": ToolName("", "is 1 less the overlap with a baseline, divided by k: run.ir.similarity(other)"),
    },
    "scikit-learn": {
        "average_precision_score": ToolName("", f"{OF_ALL_ROWS}, whose measure is 'AP'"),
        "dcg_score": ToolName("DCG", "the mean over orders of tied documents, which ties='expected' is"),
        "label_ranking_average_precision_score": ToolName("AP", f"{ONE}, and ties count for both", 1.0),
        "ndcg_score": ToolName("nDCG", "the mean over orders of tied documents, which ties='expected' is"),
        "roc_auc_score": ToolName("", f"{OF_ALL_ROWS}, whose measure is 'Accuracy'"),
        "top_k_accuracy_score": ToolName("", "is of classes, each row's one right class among the first k"),
    },
    "ranx": {"hits": ToolName("NumRelRet")},
    "recommenders": {
        "catalog_coverage": ToolName(
            "", "divides recommended items, cold ones too, by those of train, and can exceed 1"
        ),
        "distributional_coverage": ToolName("Entropy", catalogue="items"),
        "diversity": ToolName("", "is of co-occurrence in the history; by features it is the mean of 'ILD(of=...)'"),
        "novelty": ToolName("", "is a mean over rows, to which items that nobody had add 0; 'Novelty' is one by lists"),
        "serendipity": ToolName("", "is 1 less the mean similarity to what the user had, of all items"),
    },
    "sentence-transformers": {
        "accuracy": ToolName("Success"),
        "map": ToolName(AP_OF_BEST),
        "mrr": ToolName("RR"),
        "ndcg": ToolName(BINARY),
        "precision": ToolName("P"),
        "recall": ToolName("R"),
    },
    "TF-Ranking": {
        "hits": ToolName("Success"),
        "map": ToolName("AP"),
        "mrr": ToolName("RR"),
        "ndcg": ToolName(EXPONENTIAL),
        "ordered_pair_accuracy": ToolName("", "weights queries by their pairs of different grades"),
        "precision": ToolName(OF_LIST),
        "recall": ToolName("R"),
    },
    "torchmetrics": {
        "AP": ToolName("AP(denominator='hits')"),
        "MAP": ToolName("AP(denominator='hits')"),
        "AUROC": ToolName("Accuracy", "counts 0 where all of the first k are relevant, here 1"),
    },
    "TruLens": {
        "ir_hit_rate": ToolName("Success"),
        "mrr": ToolName("RR"),
        "ndcg": ToolName("nDCG", "skips questions for which nothing was retrieved, here 0; its k is the list's length"),
        "precision": ToolName(OF_LIST, "counts all that tie with the k-th where it has scores"),
        "recall": ToolName("R", "counts all that tie with the k-th where it has scores"),
    },
    "WarpRec": {
        "APLT": ToolName("", "is 'Tail(cold='neither')' with k for the length, and more than 80 % for the head"),
        "Gini": ToolName("", "is Gini m / (m - 1), m items of train, low where even: the opposite of Elliot's"),
        "ItemCoverage": ToolName("", "is a count: 'ItemCoverage' of exposure, times the items of the catalogue"),
        "ShannonEntropy": ToolName("", "is 'Entropy' of exposure in nats: times ln(2)"),
    },
    "XGBoost": {
        "auc": ToolName("", "counts pairs of documents with the same label, too, which 'Accuracy' does not"),
        "map": ToolName(AP_OF_BEST, ONE, 1.0),
        "map-": ToolName(AP_OF_BEST),
        "ndcg": ToolName(EXPONENTIAL, ONE, 1.0),
        "ndcg-": ToolName(EXPONENTIAL),
        "pre": ToolName(OF_LIST),
    },
}

#: What a tool writes around the names above, in its configurations or classes.
AFFIXES = {
    "AutoRAG": r"^retrieval_(?!token)",
    "DeepEval": r"Metric\b",
    "MLflow": r"_at_k$",
    "ragas": r"(?i)^llm_?(?=context)",
}

#: Other names of the tools.
CALLED = {"sklearn": "scikit-learn", "TensorFlow-Ranking": "TF-Ranking", "SBERT": "sentence-transformers"}

#: Names that mean two things and are read with the tool alone, each with tools that mean something else by it. Written
#: as the measure of this package is (`Accuracy`, `RBP`) a name is that.
AMBIGUOUS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("accuracy", "acc"), ("ir_measures", "BEIR", "sentence-transformers")),
    "hits": ("ranx", "TF-Ranking"),
    "rbp": ("ir_measures", "trec_eval"),
}

#: Names of plain speech, short or spelt out, folded, by the names that tools have.
PLAIN: Mapping[str, str] = {
    "prec": "precision",
    "rec": "recall",
    "acc": "accuracy",
    "discountedcumulativegain": "dcg",
    "discountedcumulatedgain": "dcg",
    "normalizeddiscountedcumulativegain": "ndcg",
    "normaliseddiscountedcumulativegain": "ndcg",
    "normalizeddiscountedcumulatedgain": "ndcg",
    "normaliseddiscountedcumulatedgain": "ndcg",
}

_OF_ALL_USERS = ("coverage", "catalog_coverage", "gini_index")

#: Names of no measure here, each with an explanation.
ELSEWHERE: Mapping[str, str] = {
    **dict.fromkeys(
        (*_OF_ALL_USERS, *OF_EXPOSURE),
        "is of all users together: 'ItemCoverage', 'Gini', 'Entropy' and 'Personalisation' are measures of "
        ".ir.exposure(history=train)",
    ),
    "avg_rec_popularity": "is 'Popularity' here, with history=",
    "diversity": "is 'ILD(of=...)' here, of a column of items=; of subtopics it is 'alpha_nDCG'",
    "surprisal": "is 'Novelty(base='users')' here, with history=",
    "unexpectedness": "compares two runs: run.ir.similarity(other)",
    "auc": (
        "is of each query, or of all rows as one list. The first is 'Accuracy', of the first k with a cutoff, as in "
        "'Accuracy@10'; down to k documents retrieved in vain it is 'pAUC@10'; the second is none of this package"
    ),
}
