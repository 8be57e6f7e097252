"""Errors and warnings as the shell has them: options instead of parameters, and no Python to type.

Conventions: the messages of the package name a parameter at their beginning (`max_drop must be`) or with a value
(`format='trec'`), and advise a call after a colon or a comma (`Keep one of each: run.unique(...)`).
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Collection, Iterator
from contextlib import contextmanager

from polars_ir.errors import FileError, IRError, IRWarning

#: A call as advice, up to the end of its part of the sentence.
_CALL = re.compile(r"[:,] (as in )?(ir|pl|run|qrels|per_query|queries|frame|old|new)\.\w+\(.*?\)(?=[.,](\s|$))")

#: What is no option, but a file.
_FILES = {"new", "old"}

#: What Python has its own words for.
_WORDS = {
    "`ir.catalog()` lists": "`polars-ir measures` lists",
    "use read_qrels": "give it as judgments",
    "use read_run": "give it as a run",
    ", or give it another name: .alias('...')": "",
    ", or give a dict of per-query frames by system": "",
    "path='runs/{run}.run'": "runs/{run}.run",
}


def in_shell(message: str, parameters: Collection[str] = ()) -> str:
    """A message with options for these parameters, and without calls."""
    for words, others in _WORDS.items():
        message = message.replace(words, others)
    message = re.sub(r"\bir\.(\w+ needs)", r"\1", _CALL.sub("", message))
    for name in set(parameters) - _FILES:
        option = f"--{name.replace('_', '-')}"
        message = re.sub(rf"^{name}(?= must)", option, message)
        message = re.sub(rf"(?<![\w(]){name}='([^']*)'", rf"{option} \1", message)
    return message


def in_program(message: str) -> str:
    """A message of what stands in for another program, and has no option for the format as `convert` has."""
    return in_shell(message, ["format"]).replace("--format", "polars-ir convert --format")


@contextmanager
def option_for(parameter: str, option: str) -> Iterator[None]:
    """Let errors name the option that sets a parameter of another name."""
    try:
        yield
    except IRError as error:
        raise type(error)(re.sub(rf"\b{parameter}(?==| must)", option, str(error))) from error


@contextmanager
def about(run: str) -> Iterator[None]:
    """Let errors and warnings tell which of several runs they are about."""
    with warnings.catch_warnings(record=True, category=IRWarning) as noticed:
        warnings.simplefilter("always", IRWarning)
        try:
            yield
        except FileError:
            raise
        except IRError as error:
            words = str(error)
            raise type(error)(f"{run}{words[3:]}" if words.startswith("run ") else words) from error
    for notice in noticed:
        warnings.warn(IRWarning(f"{run}: {notice.message}"), stacklevel=2)
