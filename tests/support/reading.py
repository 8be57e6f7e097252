"""The common parts of tests of readers: the readers of each kind of file, and the message of an error."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from polars_ir.errors import FileError
from polars_ir.files import read_qrels, read_run, scan_qrels, scan_run

Write = Callable[..., Path]
Reader = Callable[..., Any]

run_readers = pytest.mark.parametrize("reader", [read_run, scan_run])
qrels_readers = pytest.mark.parametrize("reader", [read_qrels, scan_qrels])
readers = pytest.mark.parametrize("reader", [read_run, scan_run, read_qrels, scan_qrels])


def message(reader: Reader, path: Path, **options: Any) -> str:
    """The error of a reader of a file, without the folder's path."""
    with pytest.raises(FileError) as caught:
        reader(path, **options)
    return str(caught.value).replace(f"{path.parent}/", "")
