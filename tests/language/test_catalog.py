"""The catalogue: every measure is in it, with everything there is to know."""

import inspect

import polars as pl
import pytest

import polars_ir as ir
from polars_ir import measures
from polars_ir.language.catalog import PARAMETERS

GAINS = (
    "{}: gains must be a map from grades to numbers of 0 or more, as in {{1: 1, 2: 3}}, a column, or a Polars "
    "expression with a name of its own, as in (pl.col('relevance') * pl.col('trust')).alias('trusted'); got {}."
)

EVERY = pytest.mark.parametrize("spec", [pytest.param(spec, id=name) for name, spec in ir.CATALOG.items()])


def test_the_catalogue_is_a_frame_with_a_row_a_measure():
    found = ir.catalog()
    text, number = ["name", "function", "judgments", "parameters"], ["low", "high", "best"]
    assert found.schema == {
        **dict.fromkeys(text, pl.String),
        **dict.fromkeys(number, pl.Float64),
        "monotone": pl.Boolean,
        **dict.fromkeys(["also", "meaning", "source"], pl.String),
    }
    assert found["name"].to_list() == list(ir.CATALOG)


def test_every_exported_measure_is_in_the_catalogue_and_back():
    assert {spec.function for spec in ir.CATALOG.values()} == {getattr(measures, name) for name in measures.__all__}


@EVERY
def test_a_measure_is_a_function_of_the_package(spec):
    assert getattr(ir, spec.function.__name__) is spec.function
    assert spec.function.__name__ in ir.__all__


@EVERY
def test_a_measure_without_arguments_has_its_bare_name(spec):
    assert spec.function().meta.output_name() == spec.name


@EVERY
def test_a_docstring_tells_parameters_result_and_source(spec):
    written = inspect.getdoc(spec.function)
    titles = (
        ["Parameters", "Returns", "Raises", "References"] if spec.parameters else ["Returns", "Raises", "References"]
    )
    sections = [f"{title}\n{'-' * len(title)}\n" for title in titles]
    assert [section for section in sections if section not in written] == []
    assert spec.source in written
    assert written.startswith(spec.meaning)


@EVERY
def test_every_parameter_is_described_and_keyword_only(spec):
    parameters = inspect.signature(spec.function).parameters
    assert parameters.keys() <= PARAMETERS.keys() | spec.own.keys()
    assert {parameter.kind for parameter in parameters.values()} <= {inspect.Parameter.KEYWORD_ONLY}
    assert [name for name in parameters if f"\n{name} : default " not in spec.function.__doc__] == []


@EVERY
def test_the_best_value_is_a_bound(spec):
    assert spec.best in spec.bounds


@EVERY
def test_a_source_and_a_meaning_are_given(spec):
    assert "http" in spec.source or any(character.isdigit() for character in spec.source)
    assert spec.meaning.endswith(".")


def test_no_two_measures_share_a_name():
    names = [
        name
        for spec in ir.CATALOG.values()
        for name in (spec.name, *(other for other in spec.spellings if other != spec.name))
    ]
    assert len(names) == len(set(names))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ir.precision(rel=-1), "P: rel must be a grade from 0 to 1e+09; got -1."),
        (lambda: ir.precision(rel=True), "P: rel must be a grade from 0 to 1e+09; got True."),
        (lambda: ir.precision(rel=None), "P: rel must be a grade from 0 to 1e+09; got None."),
        (lambda: ir.f_measure(beta=-1), "F: beta must be a number from 0 to 1e+09; got -1."),
        (lambda: ir.f_measure(beta=float("nan")), "F: beta must be a number from 0 to 1e+09; got nan."),
        (lambda: ir.rank_biased_precision(p=1), "RBP: p must be between 0 and 1, both excluded; got 1."),
        (lambda: ir.expected_reciprocal_rank(max_rel=0), "ERR: max_rel must be a whole number from 1 to 64; got 0."),
        (
            lambda: ir.ndcg(gains={}),
            GAINS.format("nDCG", {}),
        ),
        (
            lambda: ir.dcg(gains={1: -1}),
            GAINS.format("DCG", {1: -1}),
        ),
    ],
)
def test_a_parameter_out_of_range_is_an_error(call, message):
    with pytest.raises(ir.IRError) as error:
        call()
    assert str(error.value) == message
