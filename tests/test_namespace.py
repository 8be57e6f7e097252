"""`.ir`: the functions, bound to a frame."""

import gc
import importlib
import inspect
import re
import warnings
import weakref

import polars as pl
import pytest
from generated import collection_of

import polars_ir as ir
from polars_ir import namespace
from polars_ir.errors.names import INTENTS

RUN = pl.DataFrame({"query_id": ["q1", "q1", "q2"], "doc_id": ["d1", "d2", "d1"], "score": [0.9, 0.5, 0.7]})
QRELS = pl.DataFrame({"query_id": ["q1", "q2"], "doc_id": ["d2", "d1"], "relevance": [1, 2]})
PER_QUERY = ir.evaluate(RUN, QRELS, ["RR", "AP"])


@pytest.mark.parametrize("info", [pytest.param(info, id=name) for name, info in ir.CATALOG.items()])
@pytest.mark.whole("test_invariants calls them all", quick=12)
def test_every_measure_is_a_method(info):
    of_lists = info.kind in ("none", "documents and history")
    kinds = ("documents", "subtopics", "preferences")
    run, judgments = collection_of(info.kind if info.kind in kinds else "documents")
    judgments = judgments.with_columns(stratum=1) if info.kind == "documents and strata" else judgments
    items = run.select("doc_id").unique().with_columns(category=pl.lit("one"))
    tables = {"history": run, "items": items} if of_lists else {}
    method = getattr(run.ir, info.function.__name__)
    assert method(judgments, **tables).equals(ir.evaluate(run, judgments, info.function(), **tables))


def test_a_measures_method_takes_the_measures_parameters_and_the_options_of_evaluate():
    found = RUN.ir.ndcg(QRELS[:1], k=5, dcg="exp-log2", missing="skip", undefined=None)
    assert found.equals(ir.evaluate(RUN, QRELS[:1], ir.ndcg(k=5, dcg="exp-log2"), missing="skip", undefined=None))


def test_a_function_can_be_piped():
    assert RUN.pipe(ir.evaluate, QRELS, "AP").equals(RUN.ir.evaluate(QRELS, "AP"))


def test_the_signature_of_a_measures_method_is_whole():
    names = list(inspect.signature(RUN.ir.ndcg).parameters)
    parameters = ["k", "rel", "dcg", "discount", "gains", "denominator"]
    options = ["by", "missing", "undefined", "judged_only", "ties", "judges", "bounds", "names"]
    options += ["provenance", "strict", "exclude", "duplicates", "history", "items"]
    assert names == ["qrels", *parameters, *options]


def test_the_docstring_of_a_measures_method_tells_what_the_method_takes_and_gives_back():
    run, _ = collection_of("documents")
    for info in ir.CATALOG.values():
        method = getattr(run.ir, info.function.__name__)
        assert method.__name__ == info.function.__name__
        written = inspect.getdoc(method)
        assert written.startswith(info.meaning)
        assert info.source in written
        assert [name for name in inspect.signature(method).parameters if f"\n{name} : default " not in written] == []
        assert "\nReturns\n-------\nThe kind of the run" in written
        assert "pl.Expr" not in written.partition("Returns\n")[2].partition("Raises\n")[0]


def test_a_namespace_says_what_it_is_and_what_it_can_do():
    text = repr(RUN.ir)
    assert text.startswith(".ir: evaluation of this DataFrame")
    assert [name for name in dir(RUN.ir) if name not in text] == []
    assert "LazyFrame" in repr(RUN.lazy().ir)


SHORT_NAMES = {
    "mrr": "RR@2",
    "rr": "RR@2",
    "map": "AP@2",
    "ap": "AP@2",
    "hit_rate": "Success@2",
    "hit": "Success@2",
    "p": "P@2",
    "r": "R@2",
    "rbp": "RBP@2",
    "err": "ERR@2",
    "f1": "F@2",
    "rprec": "Rprec@2",
}


@pytest.mark.parametrize("name", SHORT_NAMES)
def test_a_measure_is_a_method_by_its_other_names(name):
    assert getattr(RUN.ir, name)(QRELS, k=2).equals(RUN.ir.evaluate(QRELS, SHORT_NAMES[name]))
    assert getattr(RUN.ir, name.upper())(QRELS, k=2).columns == ["query_id", SHORT_NAMES[name]]


def test_what_tools_mean_different_measures_by_is_no_method():
    with pytest.raises(AttributeError, match="has no method 'hits'"):
        RUN.ir.hits(QRELS, k=2)


def test_a_measure_of_a_catalogue_says_why_it_is_no_method():
    with pytest.raises(AttributeError, match="'catalog_coverage' is of all users together: 'ItemCoverage'"):
        RUN.ir.catalog_coverage(k=10)


def test_a_measure_has_the_name_that_was_typed_in_its_errors():
    with pytest.raises(ir.IRError, match=r"^mrr\(\): got an unexpected keyword argument 'p'"):
        RUN.ir.mrr(QRELS, p=1)


def test_a_measure_is_a_function_by_its_other_names_unless_these_mean_something_else():
    for name, function in namespace.SHORT.items():
        if name not in ("hits", "map"):
            assert getattr(ir, name) is getattr(ir, function)
            assert name not in {*dir(ir), *dir(RUN.ir)}
    assert ir.rbp(k=5).meta.output_name() == "RBP@5"
    assert "map" not in dir(ir)
    assert ir.hits(5).meta.eq((ir.relevant() & ir.top(5)).sum())


@pytest.mark.usefixtures("scratch_catalog")
def test_a_measure_of_ones_own_goes_before_another_name_of_ours():
    @ir.measure("Own", source="a test")
    def mrr() -> pl.Expr:
        """A measure."""
        return ir.rank.min()

    assert RUN.ir.mrr(QRELS).columns == ["query_id", "Own"]


def test_only_what_is_public_is_listed():
    assert set(dir(ir)) - set(ir.__all__) == {"measures", "plots"}
    assert [name for name in dir(ir) if not hasattr(ir, name)] == []
    assert [name for name in dir(RUN.ir) if name.startswith("_")] == []


def test_charts_are_listed_and_the_nearest_is_named():
    plots = pytest.importorskip("polars_ir.plots", exc_type=ImportError)
    assert dir(RUN.ir.plot) == ["cutoffs", "precision_recall"]
    assert sorted(dir(RUN.ir.plot) + dir(PER_QUERY.ir.plot)) == plots.OF_FRAMES
    assert all(name in repr(PER_QUERY.ir.plot) for name in dir(PER_QUERY.ir.plot))
    with pytest.raises(AttributeError, match=r"\.ir\.plot has no chart 'forrest'\. Did you mean 'forest'\? It has"):
        _ = PER_QUERY.ir.plot.forrest


#: Optional parameters that may be positional.
TABLES_AND_MEASURES = {"qrels", "per_query", "old", "other", "measure", "measures"}

#: What is asked for first.
METHODS = {
    "fuse": "method",
    "tune_fusion": "method",
    "contribution": "method",
    "normalize": "norm",
    "skip_first": "n",
    "missing_evidence": "k",
    "merge_calls": "step",
    "overlap": "test",
}

#: The words that measures are written in, which are no calls on tables.
WORDS = {"gain", "hits", "if_relevant", "n_relevant", "relevant", "top", "measure"}


def public_functions():
    plots = pytest.importorskip("polars_ir.plots", exc_type=ImportError)
    for name in plots.__all__:
        yield pytest.param(getattr(plots, name), id=f"plots.{name}")
    measures = {info.function.__name__ for info in ir.CATALOG.values()}
    for name in sorted(set(ir.__all__) - measures - WORDS):
        function = getattr(ir, name)
        if inspect.isfunction(function):
            yield pytest.param(function, id=name)


@pytest.mark.parametrize("function", list(public_functions()))
def test_tables_measures_and_what_is_needed_may_be_given_by_position_and_options_by_name(function):
    parameters = [p for p in inspect.signature(function).parameters.values() if p.kind is not p.VAR_POSITIONAL]
    named = {*TABLES_AND_MEASURES, METHODS.get(function.__name__)}
    wanted = {p.name for p in parameters if (p.default is p.empty and p.name != "depth") or p.name in named}
    assert {p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD} == wanted


def test_every_parameter_is_described():
    for function in (case.values[0] for case in public_functions()):
        written = inspect.getdoc(function)
        lines = [line.partition(" : ")[0] for line in written.split("\n")] if "Parameters\n---" in written else []
        described = {name for line in lines for name in line.split(", ")}
        assert not lines or inspect.signature(function).parameters.keys() <= described, function


@pytest.mark.parametrize(
    "slip",
    [
        lambda: RUN.drop("score").ir.evaluate(QRELS, "AP"),
        lambda: RUN.ir.ndcg(QRELS.rename({"doc_id": "x"})),
        lambda: PER_QUERY.ir.compare(baseline="none"),
        lambda: RUN.ir.evaluate(QRELS, "nDGC"),
    ],
)
def test_a_slip_shows_few_frames_of_ours(slip):
    with pytest.raises(ir.IRError) as error:
        slip()
    assert sum("polars_ir" in str(entry.path) for entry in error.traceback) <= 3


def test_the_docstring_of_a_method_is_that_of_the_function():
    assert RUN.ir.evaluate.__doc__ == ir.evaluate.__doc__


def test_all_methods_are_listed():
    measures = {info.function.__name__ for info in ir.CATALOG.values()}
    of_either = {*dir(RUN.ir), *dir(PER_QUERY.ir)}
    assert measures | {"judge", "evaluate", "validate", "mean", "summarize"} <= of_either


@pytest.mark.parametrize(
    ("frame", "listed", "unlisted"),
    [
        (RUN, {"evaluate", "ndcg", "fuse", "plot"}, {"compare", "update", "table"}),
        (RUN.lazy(), {"evaluate", "ndcg"}, {"compare"}),
        (PER_QUERY, {"compare", "update", "table", "plot"}, {"evaluate", "ndcg", "fuse"}),
        (PER_QUERY.rename({"RR": "mine", "AP": "other"}), {"evaluate", "ndcg", "compare"}, set()),
        (RUN.with_columns(AP=1.0), {"evaluate", "compare"}, set()),
        (pl.scan_csv("not there.csv"), {"evaluate", "compare"}, set()),
        ({"a": PER_QUERY}, {"compare"}, {"evaluate"}),
        ({"q1": {"d1": 1.0}}, {"evaluate", "compare"}, set()),
    ],
)
def test_a_frame_lists_what_fits_its_columns(frame, listed, unlisted):
    found = set(dir(ir.of(frame)))
    assert listed <= found
    assert not unlisted & found


def test_an_intent_is_no_name_and_its_functions_are():
    plots = pytest.importorskip("polars_ir.plots", exc_type=ImportError)
    words = [word for row in INTENTS for word in row.split()]
    functions = {function for row in INTENTS.values() for function in row.split()}
    assert len(words) == len({*words}) >= 40
    assert {*words} & {*dir(ir), *dir(RUN.ir), *dir(PER_QUERY.ir), *namespace.SHORT} == {"top"}  # a word of measures
    assert functions <= {*dir(ir), *(f"plots.{name}" for name in plots.__all__), "datasets.load"}


@pytest.mark.parametrize(
    ("holder", "word", "meant"),
    [
        (ir, "ttest", "'compare'"),
        (RUN.ir, "worst", "'hardest' or 'diff'"),
        (PER_QUERY.ir, "to_latex", "'table' or 'report'"),
        (RUN.ir, "load", "'ir.read_run' or 'ir.datasets.load'"),
        (ir, "hist", "'plots.distribution'"),
        (RUN.ir, "box", "'plot.distribution'"),
        (PER_QUERY.ir.plot, "bar", "'forest'"),
        (ir, "ndgc", "'ndcg'"),
        (ir, "evalute", "'evaluate'"),
    ],
)
def test_a_word_for_what_a_function_does_names_the_function(holder, word, meant):
    with pytest.raises(AttributeError, match=rf"'{word}'\. Did you mean {re.escape(meant)}"):
        getattr(holder, word)


@pytest.mark.parametrize(
    ("wrong", "meant"),
    [
        *(("ndgc", "ndcg"), ("avrage_precision", "average_precision"), ("RetrievalMRR", "reciprocal_rank")),
        *(("ndcg_cut", "ndcg"), ("HitRate", "success"), ("summarise", "summarize")),
    ],
)
def test_an_unknown_method_names_the_nearest_or_what_it_means(wrong, meant):
    with pytest.raises(AttributeError, match=rf"^\.ir has no method '{wrong}'\. Did you mean '{meant}'"):
        getattr(RUN.ir, wrong)


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


@pytest.mark.whole("jedi takes its time")
@pytest.mark.parametrize(
    ("typed", "completed"), [("per_query.ir.plot.fore", "forest"), ("run.ir.nd", "ndcg"), ("ir.nd", "ndcg")]
)
def test_a_completer_sees_charts_and_measures(typed, completed):
    jedi = pytest.importorskip("jedi")
    names = {"per_query": PER_QUERY, "run": RUN, "ir": ir}
    assert completed in [found.name for found in jedi.Interpreter(typed, [names]).complete()]
