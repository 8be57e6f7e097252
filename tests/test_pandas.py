"""`.ir` on pandas frames, whichever import comes first; and no pandas for those who do not use it."""

import subprocess
import sys

import pandas as pd
import pytest

import polars_ir as ir

RUN = pd.DataFrame({"query_id": ["q1", "q1", "q2"], "doc_id": ["d1", "d2", "d1"], "score": [0.9, 0.5, 0.7]})
QRELS = pd.DataFrame({"query_id": ["q1", "q2"], "doc_id": ["d2", "d1"], "relevance": [1, 2]})


def in_a_new_interpreter(program: str) -> str:
    """The output of a program; the interpreter treats warnings as errors."""
    done = subprocess.run(  # noqa: S603  # our own interpreter and program
        [sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, check=False, timeout=900
    )
    assert done.stderr == ""
    return done.stdout.strip()


def test_a_pandas_frame_has_the_methods_and_gives_pandas_back():
    found = RUN.ir.evaluate(QRELS, ["RR", "NumRet"])
    wanted = pd.DataFrame({"query_id": ["q1", "q2"], "RR": [0.5, 1.0], "NumRet": [2, 1]})
    pd.testing.assert_frame_equal(found, wanted, check_dtype=False)


def test_a_measures_method_is_the_function_on_pandas():
    pd.testing.assert_frame_equal(RUN.ir.ndcg(QRELS, k=10), ir.evaluate(RUN, QRELS, ir.ndcg(k=10)))


def test_methods_can_be_chained_on_pandas():
    found = RUN.ir.evaluate(QRELS, "RR").ir.mean()
    assert found["RR"].tolist() == [0.75]


def test_the_rows_of_a_pandas_frame_may_be_in_any_order():
    pd.testing.assert_frame_equal(RUN.iloc[::-1].ir.ndcg(QRELS), RUN.ir.ndcg(QRELS))


@pytest.mark.parametrize(("query", "of_run", "of_qrels"), [(2**63, "int64", "uint64"), (-7, "uint64", "int64")])
def test_ids_of_unlike_integers_come_back_to_pandas(query, of_run, of_qrels):
    run = RUN.assign(query_id=pd.Series([1, 1, 2], dtype=of_run))
    qrels = QRELS.assign(query_id=pd.Series([1, query], dtype=of_qrels))
    assert set(run.ir.evaluate(qrels, "RR")["query_id"]) == {1, query}


def test_an_unknown_method_of_pandas_names_the_nearest():
    with pytest.raises(AttributeError, match="Did you mean 'ndcg'"):
        _ = RUN.ir.ndgc


@pytest.mark.parametrize("imports", ["import pandas, polars_ir", "import polars_ir, pandas"])
@pytest.mark.whole("a process a case", quick=1)
def test_the_accessor_is_there_whichever_import_comes_first(imports):
    assert in_a_new_interpreter(f"{imports}; print(hasattr(pandas.DataFrame, 'ir'))") == "True"


@pytest.mark.parametrize("imports", ["import pandas, polars_ir", "import polars_ir, pandas"])
@pytest.mark.whole("a process a case")
def test_importing_the_package_again_is_silent(imports):
    again = "import importlib; importlib.reload(polars_ir); importlib.reload(polars_ir.pandas).register()"
    assert in_a_new_interpreter(f"{imports}; {again}; print(pandas.DataFrame({{'a': [1]}}).ir is not None)") == "True"


def test_importing_the_package_does_not_import_pandas():
    program = "import sys, polars_ir; print(sorted({'pandas', 'pyarrow', 'numpy', 'duckdb'} & sys.modules.keys()))"
    assert in_a_new_interpreter(program) == "[]"


def test_evaluating_polars_frames_does_not_import_pandas():
    program = (
        "import sys, polars_ir as ir; ir.evaluate({'q': ['d']}, {'q': ['d']}, 'RR').ir.mean(); "
        "print('pandas' in sys.modules)"
    )
    assert in_a_new_interpreter(program) == "False"


@pytest.mark.whole("a process")
def test_the_import_of_pandas_is_watched_no_longer_than_needed():
    program = "import polars_ir, pandas, sys; print([f for f in sys.meta_path if 'ExtensionsFinder' in repr(f)])"
    assert in_a_new_interpreter(program) == "[]"


@pytest.mark.whole("a process")
def test_without_pandas_its_import_fails_as_ever():
    program = (
        "import sys, polars_ir; sys.path.clear(); sys.path_importer_cache.clear()\n"
        "try:\n    import pandas\nexcept ModuleNotFoundError as error:\n    print(error)"
    )
    assert in_a_new_interpreter(program) == "No module named 'pandas'"


@pytest.mark.whole("a process")
def test_whoever_only_asks_for_pandas_before_its_import_does_not_lose_the_accessor():
    asked = "importlib.util.find_spec('pandas'); " * 2
    program = f"import importlib.util, polars_ir; {asked}import pandas; print(hasattr(pandas.DataFrame, 'ir'))"
    assert in_a_new_interpreter(program) == "True"


@pytest.mark.whole("a process")
def test_a_module_of_the_name_pandas_without_frames_breaks_nothing():
    program = (
        "import sys, types; sys.modules['pandas'] = types.ModuleType('pandas'); import polars_ir as ir; "
        "print(ir.evaluate({'q': ['d']}, {'q': ['d']}, 'RR').item(0, 1))"
    )
    assert in_a_new_interpreter(program) == "1.0"


TAKEN = {
    "pandas": "import pandas; taking = pandas.api.extensions.register_dataframe_accessor('ir')",
    "Polars": "import polars; taking = polars.api.register_dataframe_namespace('ir')",
}


@pytest.mark.parametrize("library", TAKEN)
@pytest.mark.whole("a process a case", quick=1)
def test_another_package_that_took_the_name_is_told_of_once(library):
    program = (
        f"{TAKEN[library]}; taking(type('Theirs', (), {{'__init__': lambda self, frame: None}})); import warnings\n"
        "with warnings.catch_warnings(record=True) as caught:\n"
        "    warnings.simplefilter('always')\n"
        "    import polars_ir\n"
        "print(*[warning.message for warning in caught], sep='; ')"
    )
    wanted = f".ir on frames of {library} was taken by another package, and stays its own. The functions do the same: "
    assert in_a_new_interpreter(program) == f"{wanted}ir.evaluate(run, qrels, [...])."


def test_ids_that_floats_do_not_hold_stay_whole_beside_a_null():
    beyond = 2**53 + 1
    lists = pd.DataFrame({"query_id": [1, 2], "retrieved": [[beyond], [7]], "relevant": [[beyond], []]})
    run, qrels = ir.from_lists(lists)
    ids = ir.judge(run, qrels)["doc_id"]
    assert ids[0] == beyond
    assert ids.isna().tolist() == [False, True]
