"""Type checkers on the package: the stubs are those generated, and the samples are right."""

import importlib.util
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("polars_ir.plots", exc_type=ImportError)

import stubs  # it reads the signatures of the charts

ROOT = Path(__file__).parents[1]
TYPED = ROOT / "tests" / "typed"

WITH_MYPY = pytest.mark.skipif(importlib.util.find_spec("mypy") is None, reason="mypy is not installed")
PYRIGHT = next(filter(None, map(shutil.which, ("pyright", "basedpyright"))), None)

PLUGIN = """
[tool.mypy]
strict = true
plugins = ["polars_ir.mypy"]
"""


def printed(*command: object) -> str:
    """The output of a checker."""
    done = subprocess.run(  # noqa: S603  # our own command
        [sys.executable, "-m", "mypy", *map(str, command)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        encoding="utf-8",
    )
    assert done.stderr == ""
    return done.stdout


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("mypy")


@pytest.mark.parametrize("path", stubs.STUBS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_stub_is_what_the_catalogue_and_the_signatures_make_it(path):
    assert path.read_text("utf-8") == stubs.STUBS[path]()


@WITH_MYPY
@pytest.mark.whole("a run of mypy")
def test_mypy_agrees_with_the_sample(cache):
    found = printed("--cache-dir", cache, TYPED / "sample.py")
    assert found == "Success: no issues found in 1 source file\n"


@WITH_MYPY
@pytest.mark.whole("a run of mypy")
def test_mypy_knows_the_namespace_with_the_plugin_also_from_its_cache(tmp_path):
    config, module = tmp_path / "pyproject.toml", tmp_path / "module.py"
    config.write_text(PLUGIN, "utf-8")
    asked = ["--config-file", config, "--cache-dir", tmp_path / "cache", module]
    text = (TYPED / "with_plugin.py").read_text("utf-8")
    module.write_text(text, "utf-8")
    assert printed(*asked) == "Success: no issues found in 1 source file\n"
    # Now the frames' classes are read from the cache, and only the module is checked anew.
    module.write_text(f"{text}run.ir.summarise()\n", "utf-8")
    assert '"EagerNamespace[DataFrame]" has no attribute "summarise"' in printed(*asked)


@WITH_MYPY
@pytest.mark.whole("a run of mypy")
def test_the_module_behind_the_stub_is_checked_too(cache):
    found = printed("--cache-dir", cache / "source", "polars_ir/namespace.py")
    assert found == "Success: no issues found in 1 source file\n"


@pytest.mark.skipif(PYRIGHT is None, reason="neither pyright nor basedpyright is installed")
def test_pyright_agrees_with_the_sample(tmp_path):
    config = tmp_path / "pyrightconfig.json"
    shutil.copy(TYPED / "sample.py", tmp_path)  # what is included is relative to the configuration
    settings = {
        "include": ["sample.py"],
        "extraPaths": [str(ROOT)],
        "typeCheckingMode": "standard",
        "enableTypeIgnoreComments": True,
        "reportUnnecessaryTypeIgnoreComment": "error",
    }
    config.write_text(json.dumps(settings), "utf-8")
    command = [PYRIGHT, "-p", config, "--pythonpath", sys.executable, "--outputjson"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, encoding="utf-8")  # noqa: S603
    found = json.loads(done.stdout)
    assert found["summary"]["filesAnalyzed"] == 1
    assert [f"{each['range']['start']['line'] + 1}: {each['message']}" for each in found["generalDiagnostics"]] == []
