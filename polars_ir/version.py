"""The version of this package, of those that are installed, and where it came from."""

import json
from importlib.metadata import distribution, version
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

__version__ = version("polars_ir")


def requirement(extra: str) -> str:
    """The argument of `pip install` for an extra of this package, from where the package itself was installed.

    References
    ----------
    https://packaging.python.org/en/latest/specifications/direct-url/
    """
    from urllib.request import url2pathname  # it brings a client of the web

    origin: dict[str, Any] = json.loads(distribution("polars_ir").read_text("direct_url.json") or "{}")
    url = origin.get("url", "")
    if vcs := origin.get("vcs_info"):
        return f"'polars_ir[{extra}] @ {vcs['vcs']}+{url}@{vcs['commit_id']}'"
    if "dir_info" not in origin:
        return f"'polars_ir[{extra}] @ {url}'" if url.startswith("http") else f"'polars_ir[{extra}]'"
    folder = Path(url2pathname(urlsplit(url).path))
    if not folder.is_dir():
        return f"'polars_ir[{extra}]'"
    return f"{'-e ' if origin['dir_info'].get('editable') else ''}'{folder}[{extra}]'"
