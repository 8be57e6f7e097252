"""Without the packages of an extra, functions name it or do without."""

import copy
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from polars_ir.extras import Deferred

#: Calls every method, and makes every chart and a table, without a package, and without pandas, which needs NumPy.
PROGRAM = """
import sys, types, warnings
sys.path.insert(0, TESTS)
sys.modules[PACKAGE], sys.modules["pandas"] = None, types.ModuleType("pandas")
sys.modules["pandas"].DataFrame = types.SimpleNamespace
import test_kinds_given_back as methods
del sys.modules["pandas"]
def without_pandas(name, *_):
    if name == "pandas":
        raise ModuleNotFoundError(name=name)
sys.meta_path.insert(0, types.SimpleNamespace(find_spec=without_pandas))
from plots.test_markup import CHARTS
import polars_ir as ir
warnings.simplefilter("ignore")
calls = {name: lambda frame=frame, call=call: call(frame.ir) for name, (frame, call) in methods.CALLS.items()}
tables = {
    "plain table": lambda: ir.table(methods.PER_QUERY, test=None),
    "table": lambda: ir.table(methods.PER_QUERY),
    "means": lambda: ir.mean(methods.PER_QUERY),
    "assert_no_worse": lambda: ir.assert_no_worse(methods.OLD, methods.OLD, ["RR"]),
    "to_metrics": lambda: ir.to_metrics(methods.OF_ONE),
}
for name, call in (calls | CHARTS | tables).items():
    try:
        call()
        print(name, "made", sep=": ")
    except BaseException as error:
        print(name, f"{type(error).__name__} {error}", sep=": ")
"""


@pytest.mark.parametrize("package", ["numpy", "scipy"])
@pytest.mark.whole("a process that calls everything")
def test_every_function_works_or_names_its_extra(package):
    program = PROGRAM.replace("TESTS", repr(str(Path(__file__).parent))).replace("PACKAGE", repr(package))
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, encoding="utf-8"
    )
    assert done.stderr == ""
    found = dict(line.split(": ", 1) for line in done.stdout.splitlines())
    failed = {name: says for name, says in found.items() if not says.startswith(("made", "ExtraError"))}
    assert failed == {}
    assert {name for name in found if found[name] == "made"} >= {"evaluate", "summarize", "mean"}
    assert found["ranks"].startswith("ExtraError ir.ranks needs an optional dependency: pip install ")


def test_a_deferred_package_can_be_copied_and_pickled_without_an_import():
    package = Deferred("there is none")
    assert copy.copy(package).__dict__ == pickle.loads(pickle.dumps(package)).__dict__ == package.__dict__  # noqa: S301  # our own
