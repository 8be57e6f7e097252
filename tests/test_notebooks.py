"""The committed notebooks run, and show what they would show today.

After a change that moves an output, `python tests/test_notebooks.py` runs every notebook and stores its outputs.
"""

import os
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl
import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")
pytest.importorskip("vl_convert")

NOTEBOOKS = sorted((Path(__file__).resolve().parents[1] / "notebooks").glob("*.ipynb"))
IDS = [path.stem for path in NOTEBOOKS]

#: Charts are kept as specifications, which the book draws, and as pictures for where no script runs.
CHARTS = """
import altair, vl_convert

def kept(spec, **_):
    picture = vl_convert.vegalite_to_svg(spec)
    return {"application/vnd.vegalite.v6+json": spec, "image/svg+xml": picture, "text/plain": "[chart]"}

altair.renderers.register("kept", kept)
altair.renderers.enable("kept")
"""

#: The metadata that a notebook keeps: a kernel that everyone has, nothing of the machine it ran on.
KERNEL = {"name": "python3", "display_name": "Python 3", "language": "python"}

#: The key of the Polars version that made the outputs; another major version may draw tables differently.
MADE_WITH = "polars"

#: The pattern of paths on someone's machine.
TRACES = ("/home/", "/root/", "/Users/", "/tmp/", "/work/", "site-packages", "ipykernel_")  # noqa: S108  # looked for only

# Jupyter's libraries warn of each other; the notebook itself runs in another process, where a warning is an output.
JUPYTER = "(jupyter_client|jupyter_core|nbclient|nbformat|zmq|tornado)"
pytestmark = pytest.mark.filterwarnings(f"ignore::DeprecationWarning:{JUPYTER}")


def read(path):
    return nbformat.read(path, as_version=4)


def code_cells(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def execute(notebook, folder):
    """The notebook with fresh outputs, run in a folder of its own; an error in a cell is raised."""
    fresh = nbformat.from_dict(notebook)
    for cell in code_cells(fresh):
        cell.outputs, cell.execution_count = [], None
    client = nbclient.NotebookClient(
        fresh,
        kernel_name="python3",
        timeout=900,
        record_timing=False,
        coalesce_streams=True,
        resources={"metadata": {"path": str(folder)}},
    )
    with TemporaryDirectory() as ipython:
        startup = Path(ipython, "profile_default", "startup")
        startup.mkdir(parents=True)
        (startup / "charts.py").write_text(CHARTS, encoding="utf-8")
        client.execute(env={**os.environ, "IPYTHONDIR": ipython})
    fresh.metadata = {"kernelspec": KERNEL, "language_info": {"name": "python"}, MADE_WITH: pl.__version__}
    return nbformat.from_dict(fresh)


def texts(cell):
    """The printed and displayed output of a cell, as text."""
    shown = [output.get("text") or output.get("data", {}).get("text/plain", "") for output in cell.outputs]
    return "".join(shown).splitlines()


@pytest.fixture
def own_jupyter(tmp_path, monkeypatch):
    """Settings, kernels and files of Jupyter that are nobody's but the test's."""
    for variable in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR"):
        folder = tmp_path / variable
        folder.mkdir()
        monkeypatch.setenv(variable, str(folder))


def test_there_is_a_notebook():
    assert NOTEBOOKS


@pytest.mark.usefixtures("own_jupyter")
@pytest.mark.parametrize("path", NOTEBOOKS, ids=IDS)
@pytest.mark.whole("seconds a notebook")
def test_a_notebook_runs_and_shows_what_is_committed(path, tmp_path):
    pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    committed = read(path)
    fresh = execute(committed, tmp_path)
    made_with = committed.metadata[MADE_WITH]
    if made_with.split(".")[0] != pl.__version__.split(".")[0]:
        pytest.skip(f"it runs; its outputs were made with Polars {made_with}, this is {pl.__version__}")
    for before, after in zip(code_cells(committed), code_cells(fresh), strict=True):
        assert texts(after) == texts(before), f"{path.name}, cell {before.id!r} shows something else"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=IDS)
def test_a_notebook_is_committed_whole_and_without_traces(path):
    notebook = read(path)
    nbformat.validate(notebook)
    assert notebook.metadata.kernelspec == KERNEL
    assert [cell.execution_count for cell in code_cells(notebook)] == list(range(1, len(code_cells(notebook)) + 1))
    for cell in code_cells(notebook):
        assert "execution" not in cell.metadata, f"{cell.id!r} keeps the times of its execution"
        assert all(output.output_type != "error" for output in cell.outputs), f"{cell.id!r} ends in an error"
        streams = [output.name for output in cell.outputs if output.output_type == "stream"]
        assert "stderr" not in streams, f"{cell.id!r} warns"
    for trace in TRACES:
        assert trace not in path.read_text(encoding="utf-8"), f"{trace!r} is a place on someone's machine"


if __name__ == "__main__":
    for notebook_path in NOTEBOOKS:
        with TemporaryDirectory() as own_folder:
            nbformat.write(execute(read(notebook_path), own_folder), notebook_path)
