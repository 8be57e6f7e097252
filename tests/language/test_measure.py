"""The catalogue: every measure is in it, with everything there is to know."""

import inspect
import math

import polars as pl
import pytest
from messages import message_of

import polars_ir as ir
from polars_ir import measures
from polars_ir.language.columns import column_of
from polars_ir.language.measure import Outputs
from polars_ir.language.measures.cascade import SHARES

GAINS = (
    "a map from grades to numbers of 0 or more, as in {1: 1, 2: 3}, a column, or a Polars expression with a name of "
    "its own, as in (pl.col('relevance') * pl.col('trust')).alias('trusted')"
)


def test_the_catalogue_is_a_frame_with_a_row_a_measure():
    found = ir.catalog()
    assert found.schema == {
        **dict.fromkeys(["name", "meaning", "function", "parameters"], pl.String),
        **dict.fromkeys(["low", "high", "best"], pl.Float64),
        "monotone": pl.Boolean,
        **dict.fromkeys(["judgments", "also", "source"], pl.String),
    }
    assert found["name"].to_list() == list(ir.CATALOG)


def test_every_exported_measure_is_in_the_catalogue_and_back():
    assert {info.function for info in ir.CATALOG.values()} == {getattr(measures, name) for name in measures.__all__}


def test_a_measure_is_a_function_of_the_package_called_by_its_bare_name():
    for name, info in ir.CATALOG.items():
        assert getattr(ir, info.function.__name__) is info.function
        assert info.function.__name__ in ir.__all__
        assert info.function().meta.output_name() == info.name == name


def test_a_docstring_tells_parameters_result_and_source():
    for name, info in ir.CATALOG.items():
        written = inspect.getdoc(info.function)
        titles = ["Parameters"] * bool(info.parameters) + ["Returns", "Raises", "References"]
        sections = [f"{title}\n{'-' * len(title)}\n" for title in titles]
        assert [section for section in sections if section not in written] == [], name
        assert info.source in written
        assert written.startswith(info.meaning), name


def test_every_parameter_is_described_and_keyword_only():
    for name, info in ir.CATALOG.items():
        parameters = inspect.signature(info.function).parameters
        assert parameters.keys() <= info.options.keys(), name
        assert {parameter.kind for parameter in parameters.values()} <= {inspect.Parameter.KEYWORD_ONLY}, name
        assert [p for p in parameters if f"\n{p} : default " not in info.function.__doc__] == [], name


def test_every_measure_has_a_meaning_a_source_and_a_bound_that_is_best():
    for name, info in ir.CATALOG.items():
        assert info.best in info.bounds, name
        assert "http" in info.source or any(character.isdigit() for character in info.source), name
        assert info.meaning.endswith("."), name


def test_a_parameter_called_like_an_option_of_evaluate_is_refused():
    with pytest.raises(ir.IRError) as error:

        @ir.measure("Taken", source="a test")
        def taken(*, rel: float = 1, missing: int = 0, ties: int = 0) -> pl.Expr:
            return ir.rank.min() * rel * missing * ties

    assert str(error.value) == (
        "Taken: 'missing', 'ties' cannot be a parameter of a measure: a method of `.ir` takes the options of "
        "`evaluate` beside the measure's parameters. Give it another name than bounds, by, duplicates, exclude, "
        "history, items, judged_only, judges, missing, names, provenance, qrels, strict, ties, undefined."
    )
    assert "Taken" not in ir.CATALOG


def test_no_two_measures_share_a_name():
    names = [
        name
        for info in ir.CATALOG.values()
        for name in (info.name, *(other for other in info.spellings if other != info.name))
    ]
    assert len(names) == len(set(names))


COLLECTION = "a whole number from 1 to 9,007,199,254,740,992"
OF_NEED = "a map from grades to numbers from 0 to 1, as in {1: 0.5, 2: 1}"

#: Values that a parameter of a measure cannot have, and what it must be.
WRONG = [
    (ir.precision, {"rel": [-1, True, None]}, "a grade from 0 to 1e+09"),
    (ir.f_measure, {"beta": [-1, math.nan]}, "a number from 0 to 1e+09"),
    (ir.rank_biased_precision, {"p": [1]}, "at least 1e-09 and below 1"),
    (ir.rank_biased_precision, {"gains": [{2: 2}]}, SHARES.value.wanted),
    (ir.expected_reciprocal_rank, {"max_rel": [0]}, "a whole number from 1 to 64"),
    (ir.ndcg, {"gains": [{}]}, GAINS),
    (ir.dcg, {"gains": [{1: -1}]}, GAINS),
    (ir.interpolated_precision, {"recall": [1.5]}, "a number from 0 to 1"),
    (ir.eleven_point_average, {"rounding": [1]}, "one of 'nearest', 'up'"),
    (ir.r_precision, {"multiple": [0]}, "above 0, up to 1e+09"),
    (ir.utility, {"coefficients": [(1, -1)]}, "a tuple of four numbers, as in (1, -1, 0, 0)"),
    (ir.utility, {"n_docs": [0]}, COLLECTION),
    (ir.matthews_correlation, {"n_docs": [10**20]}, COLLECTION),
    (ir.relevance_string, {"k": [0]}, "a whole number of documents, from 1 to 2,147,483,648"),
    (ir.compatibility, {"p": [0, 1, 0.99995]}, "a number above 0 and up to 0.9999"),
    (ir.compatibility, {"normalize": [1]}, "True or False"),
    (ir.alpha_ndcg, {"alpha": [1.5, -0.1]}, "a number from 0 to 1"),
    (ir.alpha_ndcg, {"gains": [{1: 2}]}, OF_NEED),
    (ir.alpha_ndcg, {"weights": ["", 3]}, "the name of a column of the qrels"),
    (ir.preferences_fulfilled, {"counting": ["ret"]}, "one of 'all', 'implied', 'retrieved'"),
    (ir.n_preferences_fulfilled, {"counting": ["ret"]}, "one of 'all', 'retrieved'"),
    (ir.user_model, {"continuation": [0.5]}, "a Polars expression"),
    (ir.bejeweled_player, {"T": [0]}, "above 0, up to 1e+09"),
    (ir.inst, {"T": [0.2, 1e30]}, "a number from 0.25 to 1e+09"),
    (ir.insq, {"min_rel": [-1]}, "from 0 to 1e+09"),
    (ir.nearly_err_10, {"p": [1]}, "at least 1e-09 and below 1"),
]


@pytest.mark.parametrize(("function", "given", "wanted"), WRONG)
def test_a_parameter_out_of_range_is_an_error(function, given, wanted):
    name = {info.function: info.name for info in ir.CATALOG.values()}.get(function, "relstring")
    for parameter, values in given.items():
        for value in values:
            message = message_of(lambda value=value, parameter=parameter: function(**{parameter: value}))
            assert message == f"{name}: {parameter} must be {wanted}; got {value!r}."


@pytest.mark.usefixtures("scratch_catalog")
@pytest.mark.parametrize(
    ("ends", "wanted"),
    [
        *(({"bounds": ends}, "bounds must be two numbers") for ends in [(0, None), 1, ("0", "1"), (0, 1, 2), (1, 0)]),
        ({"bounds": (0, math.nan)}, r"highest value, float\('inf'\) where there is no limit; got \(0, nan\)"),
        ({"best": 0.5}, "best must be one of the bounds, 0 or 1; got 0.5"),
    ],
)
def test_a_measure_without_a_range_is_refused(ends, wanted):
    with pytest.raises(ir.IRError, match=f"Mine: .*{wanted}"):
        ir.measure("Mine", source="a test", **ends)(inspect.unwrap(ir.cwl_cost))
    assert "Mine" not in ir.CATALOG


@pytest.mark.usefixtures("scratch_catalog")
def test_a_measure_gives_a_standard_error_beside_its_value():
    @ir.measure("Weighted", source="a test")
    def weighted(*, k: int | None = None) -> Outputs:
        share = ir.relevant().filter(ir.top(k)).cast(pl.Float64) / pl.col("inclusion").filter(ir.top(k))
        return Outputs(share.sum(), se=share.std())

    qrels = pl.DataFrame({"query_id": "q", "doc_id": ["d1", "d3"], "relevance": 1, "inclusion": [0.5, 0.25]})
    found = ir.evaluate({"q": ["d1", "d2", "d3"]}, qrels, ["Weighted@1,3", "RR"], bounds=True, undefined=None)
    assert found.select("Weighted@1", "Weighted@3", "Weighted@3 se").row(0) == (2.0, 6.0, 2**0.5)
    assert "Weighted@3 se low" not in found.columns
    assert column_of("Weighted@3 se").info.name == "Weighted"
    ir.measure("Weighted", source="a test", average="geometric")(inspect.unwrap(weighted))
    with pytest.raises(ir.IRError, match="a standard error goes with average='arithmetic'; got 'geometric'"):
        ir.parse("Weighted@3")
