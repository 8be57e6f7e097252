from pathlib import Path

import pytest
from reading import Write


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a file of some bytes or text, and say where."""

    def write(content: str | bytes, name: str = "a.run") -> Path:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write
