"""The versions of a published book: `python notebooks/building/versions.py FOLDER URL`.

The folder has a folder for each version, as it is published at the URL. `versions.json`, which the pages read to lead
from one version to another, and `index.html`, which leads to the latest, are written from the folders that it has.
"""

import json
import re
import sys
from pathlib import Path

#: A version, and behind its numbers what makes it one before the final version.
VERSION = re.compile(r"(\d+(?:\.\d+)+)((?:a|b|rc)\d+|\.dev\d+)?")

INDEX = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>polars_ir</title>
<meta http-equiv="refresh" content="0; url={latest}/">
<a href="{latest}/">polars_ir {latest}</a>
</html>
"""


def versions(folder: Path) -> list[str]:
    """The versions that the folder holds, the newest first."""
    names = [path.name for path in folder.iterdir() if path.is_dir() and VERSION.fullmatch(path.name)]
    return sorted(names, key=_age, reverse=True)


def _age(version: str) -> tuple[list[int], bool, str]:
    """The sort key of versions: their numbers, and those before a final version below it."""
    numbers, before = VERSION.fullmatch(version).groups()  # type: ignore[union-attr]  # `versions` takes no others
    return [int(number) for number in numbers.split(".")], before is None, before or ""


def latest(names: list[str]) -> str:
    """The newest final version or, before there is one, the newest of all."""
    return next((name for name in names if VERSION.fullmatch(name)[2] is None), names[0])  # type: ignore[index]


def write(folder: Path, url: str) -> None:
    """Write the list of versions and the way to the latest."""
    names = versions(folder)
    preferred = latest(names)
    entries = [
        {
            "name": f"{name} (latest)" if name == preferred else name,
            "version": name,
            "url": f"{url.rstrip('/')}/{name}/",
            "preferred": name == preferred,
        }
        for name in names
    ]
    (folder / "versions.json").write_text(json.dumps(entries, indent=1) + "\n", encoding="utf-8")
    (folder / "index.html").write_text(INDEX.format(latest=preferred), encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]), sys.argv[2])
