"""Some of what `failing_calls.py` does as a whole: a call or an allocation fails, and the old file is there."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("failing_calls.py")


def strace_works() -> bool:
    """True if strace is installed, and may trace."""
    strace = shutil.which("strace")
    return strace is not None and subprocess.run([strace, "-o", "/dev/null", "true"], check=False).returncode == 0  # noqa: S603


def failing(folder: Path, *arguments: str) -> str:
    """The output of the script."""
    command = [sys.executable, "-W", "ignore", SCRIPT, folder, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900, check=False, encoding="utf-8")  # noqa: S603
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.skipif(not strace_works(), reason="makes calls fail by strace")
@pytest.mark.whole("a process for each call")
def test_whichever_system_call_fails_the_old_or_the_new_file_is_there(tmp_path: Path) -> None:
    assert "refused" in failing(tmp_path, "run.tsv.gz", "--calls", "2", "--allocations", "0")


@pytest.mark.skipif(
    importlib.util.find_spec("_testcapi") is None, reason="makes allocations fail by CPython's own means"
)
@pytest.mark.skipif(sys.platform != "linux", reason="forks")
@pytest.mark.whole("a process for each allocation")
def test_whichever_allocation_fails_the_old_or_the_new_file_is_there(tmp_path: Path) -> None:
    assert "refused" in failing(tmp_path, "run.parquet", "--calls", "0", "--allocations", "150")
