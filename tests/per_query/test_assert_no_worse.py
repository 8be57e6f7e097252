"""The gate as an assertion, and its thresholds from a file."""

import re
import subprocess
import sys

import polars as pl
import pytest

import polars_ir as ir
from polars_ir.cli import main

PYDOCS = ir.datasets.load("pydocs")
PER_QUERY = ir.evaluate(PYDOCS.runs, PYDOCS.qrels, ["nDCG@10", "RR", "Hole@20"])
NEW, OLD = (PER_QUERY.filter(run=run).drop("run") for run in ("tfidf", "bm25"))


def test_a_change_that_ships_is_let_by():
    assert ir.assert_no_worse(NEW, OLD, ["nDCG@10"], max_drop=0.1, floors={"nDCG@10": 0.2}) is None
    assert NEW.to_pandas().ir.assert_no_worse(OLD.to_pandas(), "nDCG@10", max_drop=0.1) is None


@pytest.mark.parametrize(("values", "floor"), [([0.2, 0.7, 0.9], 0.6), ([0.3, -0.1, -0.2], 0.0)])
def test_a_mean_of_its_floor_is_not_below_it_by_floats(values, floor):
    new = pl.DataFrame({"query_id": range(30), "m": values * 10})
    assert ir.mean(new)["m"].item() < floor
    ir.assert_no_worse(new, new.with_columns(pl.col("m") - 0.3), "m", ranges={"m": (-1, 1)}, floors={"m": floor})


def test_the_error_is_the_verdict_on_every_measure():
    with pytest.raises(AssertionError) as raised:
        ir.assert_no_worse(NEW, OLD, ["nDCG@10", "RR"], max_drop=0.01)
    first, second, last = str(raised.value).splitlines()
    assert first.startswith("nDCG@10: worse: 0.2637 against 0.3234 on 96 queries, difference -0.0597, 90 % interval")
    assert second.startswith("RR: worse")
    assert last == "does not ship: 0 of 2 measures passed"


def test_a_floor_stops_a_change_that_is_no_worse():
    with pytest.raises(AssertionError, match=r"nDCG@10: below its floor: .*\(its mean must be 0\.35 or more, and that"):
        ir.assert_no_worse(NEW, OLD, "nDCG@10", max_drop=0.1, floors={"ndcg_10": 0.35}, inconclusive="pass")
    some = NEW.with_columns(pl.Series("Hole@20", [0.25] * 90 + [0.2] * 6))
    ir.assert_no_worse(some, some, "Hole@20", max_drop=0.5, floors={"Hole@20": 0.25})
    with pytest.raises(
        AssertionError, match=r"its mean must be 0\.23 or less, and that of all queries is surely above"
    ):
        ir.assert_no_worse(some, some, "Hole@20", max_drop=0.5, floors={"Hole@20": 0.23})


@pytest.mark.parametrize("kind", [pl.DataFrame.clone, pl.DataFrame.lazy])
def test_a_mean_beyond_its_floor_by_chance_is_inconclusive_and_told_with_its_bound(kind):
    frames, floors = (kind(NEW), kind(OLD)), {"nDCG@10": 0.3}
    bound = ir.summarize(NEW, alpha=0.1).filter(measure="nDCG@10")["high"].item()
    told = f"its mean must be 0.3 or more, and is 0.2637; that of all queries may be as high as {bound:.4g}"
    with pytest.raises(AssertionError, match=rf"nDCG@10: inconclusive: .*{re.escape(told)}"):
        ir.assert_no_worse(*frames, "nDCG@10", max_drop=0.1, floors=floors)
    ir.assert_no_worse(*frames, "nDCG@10", max_drop=0.1, floors=floors, inconclusive="pass")


def test_the_bound_of_a_floor_counts_clusters_once_and_missing_queries_as_0():
    topics = pl.Series("topic", [number // 4 for number in range(96)])
    clustered = [frame.with_columns(topics) for frame in (NEW, OLD)]
    of_topics = ir.summarize(clustered[0], cluster="topic", alpha=0.1).filter(measure="nDCG@10")["high"].item()
    with pytest.raises(AssertionError, match=rf"may be as high as {of_topics:.4g}"):
        ir.assert_no_worse(*clustered, "nDCG@10", max_drop=0.5, floors={"nDCG@10": 0.3}, cluster="topic")
    filled = NEW.with_columns(pl.when(pl.int_range(96) < 90).then("nDCG@10").otherwise(0.0))
    of_all = ir.summarize(filled, alpha=0.1).filter(measure="nDCG@10")["high"].item()
    with pytest.raises(AssertionError, match=rf"may be as high as {of_all:.4g}"):
        ir.assert_no_worse(NEW.head(90), OLD, "nDCG@10", max_drop=0.5, floors={"nDCG@10": 0.27})


def test_what_an_inconclusive_change_becomes_is_chosen():
    few = NEW.head(5), OLD.head(5)
    with pytest.raises(AssertionError, match="inconclusive"):
        ir.assert_no_worse(*few, "nDCG@10")
    ir.assert_no_worse(*few, "nDCG@10", inconclusive="pass")
    with pytest.warns(ir.IRWarning, match="these queries cannot tell.*nDCG@10: inconclusive"):
        ir.assert_no_worse(*few, "nDCG@10", inconclusive="warn")
    with pytest.raises(AssertionError, match="worse"):
        ir.assert_no_worse(NEW, OLD, "nDCG@10", inconclusive="pass")


def test_a_message_says_what_is_wrong():
    with pytest.raises(ir.IRError, match="floors names 'AP', which is not judged: 'nDCG@10'"):
        ir.assert_no_worse(NEW, OLD, "nDCG@10", max_drop=0.1, floors={"AP": 0.3})
    with pytest.raises(ir.IRError, match=r"floors\['nDCG@10'\] must be a number; got 'x'"):
        ir.assert_no_worse(NEW, OLD, "nDCG@10", max_drop=0.1, floors={"nDCG@10": "x"})
    with pytest.raises(ir.IRError, match="inconclusive must be one of 'fail', 'warn', 'pass'"):
        ir.assert_no_worse(NEW, OLD, "nDCG@10", inconclusive="skip")


@pytest.mark.whole("a process of its own")
def test_pytest_shows_the_whole_verdict(tmp_path):
    NEW.write_parquet(tmp_path / "new.parquet")
    OLD.write_parquet(tmp_path / "old.parquet")
    (tmp_path / "test_change.py").write_text(
        "import polars as pl, polars_ir as ir\n"
        "def test_change():\n"
        "    new, old = (pl.read_parquet(f'{name}.parquet') for name in ('new', 'old'))\n"
        "    ir.assert_no_worse(new, old, ['nDCG@10', 'RR'], max_drop=0.01)\n",
        encoding="utf-8",
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_change.py"]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, encoding="utf-8")  # noqa: S603  # our own
    assert ran.returncode == 1
    told = [line.removeprefix("E").strip() for line in ran.stdout.splitlines() if line.startswith("E")]
    assert told[0].startswith("AssertionError: nDCG@10: worse: 0.2637 against 0.3234 on 96 queries")
    assert told[0].endswith("a drop of 0.01 is allowed")
    assert told[-1] == "does not ship: 0 of 2 measures passed"


@pytest.fixture
def gate(tmp_path):
    """The command that judges these figures, of few queries if need be."""
    NEW.write_parquet(tmp_path / "new.parquet")
    OLD.write_parquet(tmp_path / "old.parquet")
    NEW.head(5).write_parquet(tmp_path / "few_new.parquet")
    OLD.head(5).write_parquet(tmp_path / "few_old.parquet")

    def run(*options, few=False):
        files = [str(tmp_path / f"{'few_' * few}{name}.parquet") for name in ("new", "old")]
        return main(["gate", *files, *options])

    return run


@pytest.mark.parametrize(
    ("file", "table"), [("pyproject.toml", "tool.polars_ir.gate"), ("thresholds.toml", None)], ids=str
)
def test_the_shell_takes_thresholds_from_a_file(gate, file, table, tmp_path, capsys):
    path = tmp_path / file
    head, of = (f"[{table}]\n", f"{table}.") if table else ("", "")
    path.write_text(
        f'{head}measures = ["nDCG@10", "RR"]\nalpha = 0.1\n'
        f'[{of}max_drop]\n"nDCG@10" = 0.1\nRR = 0.2\n[{of}floors]\n"nDCG@10" = 0.2\n',
        encoding="utf-8",
    )
    assert gate("--thresholds", str(path)) == 0
    assert "ships: 2 of 2 measures passed" in capsys.readouterr().out
    # What is typed counts, also if it is the default.
    assert gate("--thresholds", str(path), "--max-drop", "0.01", "--alph=0.05") == 1
    assert "80 % interval" not in (out := capsys.readouterr().out)
    assert "90 % interval" in out
    assert gate("--thresholds", str(path), "--floor", "nDCG@10=0.3") == 3
    assert "may be as high as" in capsys.readouterr().out
    assert gate("--thresholds", str(path), "--floor", "nDCG@10=0.35") == 1
    assert "below its floor" in capsys.readouterr().out


def test_the_shell_chooses_what_an_inconclusive_change_becomes(gate, capsys):
    assert gate("-m", "nDCG@10", few=True) == 3
    assert gate("-m", "nDCG@10", "--inconclusive=fail", few=True) == 3
    assert gate("-m", "nDCG@10", "--inconclusive=pass", few=True) == 0
    assert "warning" not in capsys.readouterr().err
    assert gate("-m", "nDCG@10", "--inconclusive=warn", few=True) == 0
    assert "warning: these queries cannot tell" in capsys.readouterr().err
    assert gate("-m", "nDCG@10", "--inconclusive=pass") == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("measures = [", "it cannot be read as TOML"),
        ('measure = ["AP"]', "'measure' is not an option of the gate. Did you mean 'measures'?"),
        ('measures = ["nDCG@10"]\ninconclusive = "skip"', "--inconclusive must be one of"),
        ('measures = ["nDCG@10"]\nalpha = 2', "--alpha must be at least 1e-09 and below 0.5"),
        ('measures = ["nDCG@10"]\nlooks = 3', "--looks must be (i, m)"),
        ('measures = ["nDCG@10"]\nlooks = "3/2"', "got (3, 2)"),
        ('measures = ["nDCG@10"]\nfloors = 0.3', "must be NAME=NUMBER for each measure"),
    ],
)
def test_a_wrong_file_is_told(gate, text, message, tmp_path, capsys):
    (tmp_path / "wrong.toml").write_text(text, encoding="utf-8")
    assert gate("--thresholds", str(tmp_path / "wrong.toml")) == 2
    assert message in capsys.readouterr().err


def test_a_project_without_the_table_is_told(gate, tmp_path, capsys):
    for text in ("[project]\nname = 'x'", "tool.polars_ir = 3", "tool.polars_ir.gate = 3"):
        (tmp_path / "pyproject.toml").write_text(text, encoding="utf-8")
        assert gate("--thresholds", str(tmp_path / "pyproject.toml")) == 2
        assert "there is no table [tool.polars_ir.gate]" in capsys.readouterr().err
    assert gate("--thresholds", str(tmp_path / "nowhere.toml")) == 2


@pytest.mark.whole("a process of its own")
def test_a_first_gate_imports_neither_statsmodels_nor_pandas():
    code = (
        "import sys, polars_ir as ir; d = ir.datasets.load('pydocs'); e = ir.evaluate(d.runs, d.qrels, 'P@5')\n"
        "ir.gate(e.filter(run='bm25'), e.filter(run='tfidf'), 'P@5')\n"
        "assert not {'statsmodels', 'pandas'} & sys.modules.keys()"
    )
    subprocess.run([sys.executable, "-c", code], check=True)  # noqa: S603  # our own
