"""The modules that a start of `polars-ir` imports beyond Polars. `python tests/support/starts.py`.

A limit is a tenth more than there were when it was set; the names of all are printed where it is passed. Of those in
`NEVER` none is imported: they cost as much as a command, and few calls need one.
"""

from __future__ import annotations

import subprocess
import sys

#: The words of a call, and how many modules it may import.
STARTS = {
    "--version": 71,
    "evalute": 71,
    "evaluate --nope": 106,
    "fuse --nope": 126,
    "report --nope": 106,
    "gate --nope": 109,
    "evaluate no.qrels no.run -m AP": 176,
}

#: Modules of the standard library's that are slow to import, and packages of extras.
NEVER = {"asyncio", "http.client", "numpy", "pandas", "pyarrow", "scipy", "ssl", "tqdm", "unittest", "urllib.request"}

PROGRAM = """
import sys, polars
before = set(sys.modules)
from polars_ir.cli import main
try:
    main(sys.argv[1:])
finally:
    print("\\n".join(sorted(sys.modules.keys() - before)))
"""


def imported(words: str) -> list[str]:
    """The names of the modules that a call imports."""
    command = [sys.executable, "-c", PROGRAM, *words.split()]
    printed = subprocess.run(command, check=True, capture_output=True, text=True, encoding="utf-8").stdout  # noqa: S603  # our own program
    return [name for name in printed.splitlines() if " " not in name]


def main() -> int:
    """Print the number of modules of each start; 1 where there are more than its limit, or one that is slow."""
    failed = 0
    for words, most in STARTS.items():
        names = imported(words)
        slow = sorted(NEVER.intersection(names))
        print(f"polars-ir {words:32} {len(names)} of {most} modules")
        if len(names) > most or slow:
            failed = 1
            print(f"too many{f', of them {slow}' if slow else ''}: {', '.join(names)}")
    return failed


if __name__ == "__main__":
    sys.exit(main())
