"""Messages as the shell has them."""

import warnings

import pytest

from polars_ir.cli.messages import about, in_program, in_shell, option_for
from polars_ir.errors import DataError, FileError, IRWarning, OptionError


@pytest.mark.parametrize(
    ("message", "wanted"),
    [
        ("max_drop must be 0 or more; got -1.", "--max-drop must be 0 or more; got -1."),
        ("Say it: format='msmarco' for lines.", "Say it: --format msmarco for lines."),
        ("use read_qrels, or format='msmarco'.", "give it as judgments, or --format msmarco."),
        ("'nDCG(format='x')@10' is odd.", "'nDCG(format='x')@10' is odd."),
        ("old must be of one system.", "old must be of one system."),
        ("Keep one: run.drop('qid'), or rename the other.", "Keep one, or rename the other."),
        ("Keep one: run.unique(['doc_id'], keep='first'). The first:\nq1", "Keep one. The first:\nq1"),
        ("Rename it, as in run.with_columns(pl.col('run').str.replace_all('/', '-')).", "Rename it."),
        ("Cast one: run.with_columns(pl.col('qid').cast(pl.String)).", "Cast one."),
        ("no measure is called 'x'. `ir.catalog()` lists", "no measure is called 'x'. `polars-ir measures` lists"),
        ("ir.gate needs an optional dependency.", "gate needs an optional dependency."),
        ("Leave one out, or give it another name: .alias('...').", "Leave one out."),
    ],
)  # fmt: skip
def test_a_message_names_options_and_calls_nothing(message, wanted):
    assert in_shell(message, ["max_drop", "format", "old"]) == wanted


def test_a_program_without_a_format_points_to_convert():
    message = "nothing tells the format. Say it: format='msmarco' for lines."
    assert in_program(message) == "nothing tells the format. Say it: polars-ir convert --format msmarco for lines."


def test_an_option_of_another_name_is_named():
    with pytest.raises(OptionError, match=r"^qrels_format must be one of"), option_for("format", "qrels_format"):
        raise OptionError("format must be one of 'trec'; got 'x'.")


def test_an_error_tells_which_run_it_is_about():
    with pytest.raises(DataError, match=r"^bm25\.run has 2 rows$"), about("bm25.run"):
        raise DataError("run has 2 rows")


@pytest.mark.parametrize("error", [FileError("a.run: the file is empty."), DataError("qrels has 2 rows")])
def test_an_error_about_something_else_stays_as_it_is(error):
    with pytest.raises(type(error)) as raised, about("bm25.run"):
        raise error
    assert str(raised.value) == str(error)


def test_a_warning_tells_which_run_it_is_about():
    with pytest.warns(IRWarning, match=r"^bm25\.run: nothing is shared$"), about("bm25.run"):
        warnings.warn(IRWarning("nothing is shared"), stacklevel=1)
