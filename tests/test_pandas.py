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
        [sys.executable, "-W", "error", "-c", program],
        capture_output=True,
        text=True,
        check=False,
        timeout=900,
        encoding="utf-8",
    )
    assert done.stderr == ""
    return done.stdout.strip()


def test_a_measures_method_is_the_function_on_pandas():
    pd.testing.assert_frame_equal(RUN.ir.ndcg(QRELS, k=10), ir.evaluate(RUN, QRELS, ir.ndcg(k=10)))


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


HAS_IT = "print(hasattr(pandas.DataFrame, 'ir'))"
AGAIN = f"import importlib; importlib.reload(polars_ir); importlib.reload(polars_ir.pandas).register(); {HAS_IT}"
EVALUATED = "ir.evaluate({'q': ['d']}, {'q': ['d']}, 'RR')"
LOADED = "print({'pandas', 'pyarrow', 'numpy', 'duckdb'} & sys.modules.keys())"

#: Programs that import the package and perhaps pandas, and what they print.
PROGRAMS = {
    f"import pandas, polars_ir; {HAS_IT}": "True",
    f"import polars_ir, pandas; {HAS_IT}": "True",
    f"import pandas, polars_ir; {AGAIN}": "True",
    f"import polars_ir, pandas; {AGAIN}": "True",
    f"import sys, polars_ir; {LOADED}": "set()",
    f"import sys, polars_ir as ir; {EVALUATED}.ir.mean(); print('pandas' in sys.modules)": "False",
    # The import of pandas is watched no longer than needed, and fails as ever.
    "import polars_ir, pandas, sys; print([f for f in sys.meta_path if 'ExtensionsFinder' in repr(f)])": "[]",
    "import sys, polars_ir; sys.path.clear(); sys.path_importer_cache.clear()\ntry:\n    import pandas\n"
    "except ModuleNotFoundError as error:\n    print(error)": "No module named 'pandas'",
    # Whoever only asks for it before its import does not lose the accessor.
    f"import importlib.util as u, polars_ir; u.find_spec('pandas'); u.find_spec('pandas'); import pandas; {HAS_IT}": (
        "True"
    ),
    # A module of that name may have no frames.
    "import sys, types; sys.modules['pandas'] = types.ModuleType('pandas'); import polars_ir as ir; "
    f"print({EVALUATED}.item(0, 1))": "1.0",
}


@pytest.mark.parametrize(("program", "printed"), PROGRAMS.items())
@pytest.mark.whole("a process a case", quick=4)
def test_pandas_is_imported_by_its_users_alone_and_has_the_accessor_then(program, printed):
    assert in_a_new_interpreter(program) == printed


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
    wanted = (
        f".ir on frames of {library} is already taken by another package, and left alone. The functions do the same: "
    )
    assert in_a_new_interpreter(program) == f"{wanted}ir.evaluate(run, qrels, [...])."


def test_ids_that_floats_do_not_hold_stay_whole_beside_a_null():
    beyond = 2**53 + 1
    lists = pd.DataFrame({"query_id": [1, 2], "retrieved": [[beyond], [7]], "relevant": [[beyond], []]})
    run, qrels = ir.from_lists(lists)
    ids = ir.judge(run, qrels)["doc_id"]
    assert ids[0] == beyond
    assert ids.isna().tolist() == [False, True]
