"""Lazy packages: their names are there in any order of imports, and a function wins over the file called like it."""

import pickle
import subprocess
import sys

import pytest

import polars_ir as ir
from polars_ir.lazy import LazyPackage

PACKAGES = [module for _, module in sorted(sys.modules.items()) if isinstance(module, LazyPackage)]

#: Asks each name of a package that a file is called like, twice, after one order of import or the other.
PROGRAM = """
import importlib, sys, types
import polars_ir
from polars_ir.lazy import LazyPackage
for package in [module for _, module in sorted(sys.modules.items()) if isinstance(module, LazyPackage)]:
    for name, (file, there) in package.ORIGINS.items():
        if file == f"{package.__name__}.{name}" and there:
            orders = [lambda: importlib.import_module(file), lambda: exec(f"from {package.__name__} import {name}")]
            for order in orders[::STEP]:
                order()
                assert not isinstance(getattr(package, name), types.ModuleType), (package, name)
            assert getattr(package, name) is getattr(sys.modules[file], name), (package, name)
            print(name)
"""


@pytest.mark.parametrize("step", [1, -1])
def test_the_function_wins_over_its_file_after_either_order_of_import(step):
    program = PROGRAM.replace("STEP", str(step))
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, encoding="utf-8"
    )
    assert done.stderr == ""
    assert {"compare", "fuse", "table"} <= set(done.stdout.split())


def test_every_public_name_is_there_and_a_wrong_one_is_not():
    for package in PACKAGES:
        assert [name for name in package.__all__ if not hasattr(package, name)] == []
        assert set(package.__all__) <= set(dir(package)) <= set(package.ORIGINS)
        with pytest.raises(AttributeError, match=rf"module '{package.__name__}' has no attribute 'not_there'\."):
            _ = package.not_there


def test_everything_can_be_imported_by_a_star_and_functions_can_be_pickled():
    names = {}
    exec("from polars_ir import *", names)  # noqa: S102  # a star stands in modules only
    assert set(ir.__all__) <= names.keys()
    assert pickle.loads(pickle.dumps(ir.compare)) is ir.compare  # noqa: S301  # our own


def test_importing_the_package_imports_no_function_of_runs_but_what_measures_need():
    program = "import sys, polars_ir; print(*sorted(m for m in sys.modules if m.startswith('polars_ir.')))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, encoding="utf-8")  # noqa: S603
    assert not {"polars_ir.engine", "polars_ir.statistics", "polars_ir.files", "polars_ir.datasets"} & set(
        done.stdout.split()
    )


@pytest.mark.whole("a second")
def test_fusing_imports_no_trained_method():
    program = "import sys, polars_ir as ir; ir.fuse({'a': {'q': ['d']}, 'b': {'q': ['d']}}, 'rrf'); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, encoding="utf-8", check=True)  # noqa: S603
    assert "polars_ir.fusion.fuse" in done.stdout
    assert "polars_ir.fusion.learned" not in done.stdout
