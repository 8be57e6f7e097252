"""`.ir`: the functions, bound to a frame."""

import gc
import importlib
import inspect
import warnings
import weakref

import polars as pl
import pytest
from generated import collection_of

import polars_ir as ir
from polars_ir import namespace

RUN = pl.DataFrame({"query_id": ["q1", "q1", "q2"], "doc_id": ["d1", "d2", "d1"], "score": [0.9, 0.5, 0.7]})
QRELS = pl.DataFrame({"query_id": ["q1", "q2"], "doc_id": ["d2", "d1"], "relevance": [1, 2]})
PER_QUERY = ir.evaluate(RUN, QRELS, ["RR", "AP"])


@pytest.mark.parametrize("spec", [pytest.param(spec, id=name) for name, spec in ir.CATALOG.items()])
def test_every_measure_is_a_method(spec):
    run, judgments = collection_of(spec.kind)
    method = getattr(run.ir, spec.function.__name__)
    assert method(judgments).equals(ir.evaluate(run, judgments, spec.function()))


@pytest.mark.parametrize(
    ("method", "function"),
    [
        (lambda: RUN.ir.evaluate(QRELS, "AP"), lambda: ir.evaluate(RUN, QRELS, "AP")),
        (lambda: RUN.ir.validate(QRELS), lambda: ir.validate(RUN, QRELS)),
        (PER_QUERY.ir.mean, lambda: ir.mean(PER_QUERY)),
        (lambda: PER_QUERY.ir.summarize(confidence=0.9), lambda: ir.summarize(PER_QUERY, confidence=0.9)),
        (
            lambda: RUN.ir.judge(QRELS, unjudged=True).sort("query_id", "doc_id"),
            lambda: ir.judge(RUN, QRELS, unjudged=True).sort("query_id", "doc_id"),
        ),
    ],
    ids=["evaluate", "validate", "mean", "summarize", "judge"],
)
def test_a_method_does_what_the_function_does(method, function):
    assert method().equals(function())


def test_a_measures_method_takes_the_measures_parameters_and_the_options_of_evaluate():
    found = RUN.ir.ndcg(QRELS[:1], k=5, dcg="exp-log2", missing="skip", undefined=None)
    assert found.equals(ir.evaluate(RUN, QRELS[:1], ir.ndcg(k=5, dcg="exp-log2"), missing="skip", undefined=None))


def test_methods_of_a_lazy_frame_are_lazy():
    found = RUN.lazy().ir.ndcg(QRELS, k=10)
    assert isinstance(found, pl.LazyFrame)
    assert found.collect().equals(RUN.ir.ndcg(QRELS, k=10))
    assert isinstance(found.ir.mean(), pl.LazyFrame)


def test_a_function_can_be_piped():
    assert RUN.pipe(ir.evaluate, QRELS, "AP").equals(RUN.ir.evaluate(QRELS, "AP"))


def test_the_signature_of_a_measures_method_is_whole():
    names = list(inspect.signature(RUN.ir.ndcg).parameters)
    parameters = ["k", "rel", "dcg", "discount", "gains", "denominator"]
    assert names == ["qrels", *parameters, "missing", "undefined", "judged_only", "ties", "judges", "bounds"]


def test_the_docstring_of_a_measures_method_is_that_of_the_measure():
    assert RUN.ir.ndcg.__doc__ == ir.ndcg.__doc__
    assert RUN.ir.ndcg.__name__ == "ndcg"


def test_the_docstring_of_a_method_is_that_of_the_function():
    assert RUN.ir.evaluate.__doc__ == ir.evaluate.__doc__


def test_all_methods_are_listed():
    measures = {spec.function.__name__ for spec in ir.CATALOG.values()}
    assert measures | {"judge", "evaluate", "validate", "mean", "summarize"} <= set(dir(RUN.ir))


@pytest.mark.parametrize(("wrong", "right"), [("ndgc", "ndcg"), ("avrage_precision", "average_precision")])
def test_an_unknown_method_names_the_nearest(wrong, right):
    with pytest.raises(AttributeError) as error:
        getattr(RUN.ir, wrong)
    assert str(error.value).startswith(f".ir has no method {wrong!r}. Did you mean {right!r}")


def test_an_unknown_function_names_the_nearest_too():
    with pytest.raises(AttributeError, match=r"Did you mean 'evaluate'"):
        _ = RUN.ir.evalute


def test_importing_and_registering_again_is_silent():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        importlib.reload(ir)
        namespace.register()
    assert RUN.ir.ndcg(QRELS).columns == ["query_id", "nDCG"]


@pytest.mark.parametrize("use", [lambda frame: frame.ir, lambda frame: frame.ir.ndcg(QRELS)])
@pytest.mark.parametrize("lazy", [False, True])
def test_a_frame_is_released_when_it_is_deleted(use, lazy):
    frame = RUN.clone().lazy() if lazy else RUN.clone()
    alive = weakref.ref(frame)
    gc.disable()
    try:
        use(frame)
        del frame
        assert alive() is None
    finally:
        gc.enable()
