"""What a message shows of its text: no secrets of URLs, nothing that can not be printed, and no megabytes."""

from __future__ import annotations

import re

#: How much of a message is shown, and of a file's path in it.
LONGEST, LONGEST_PATH = 4000, 400

#: What stands before the host of a URL: a user, and a password or a token.
_USER = re.compile(r"(?<=://)[^/\s'\"]*@")

#: A parameter of a URL, up to its value; in those of signed ones is all that it takes to read the file.
_PARAMETER = re.compile(r"([?&#;][^=?&#;\s'\"]+=)[^&#\s'\"]*?(?=[:.,;)]*(?:[&#\s'\"]|$))")


def shown(text: str, longest: int = LONGEST) -> str:
    """A text as part of a message, or a message; a long one without its middle."""
    if len(text) > longest:
        half = longest // 2
        text = f"{text[:half]} [... {len(text) - 2 * half} characters ...] {text[-half:]}"
    if "://" in text:
        text = _PARAMETER.sub(r"\1***", _USER.sub("***@", text))
    # Half of a character, which neither a file nor a terminal takes.
    return text.encode(errors="backslashreplace").decode()
