"""What a message shows of its text: no secrets of URLs, nothing that can not be printed, and no megabytes."""

from __future__ import annotations

import re

#: How much of a message is shown, and of a file's path in it.
LONGEST, LONGEST_PATH = 4000, 400

#: What stands before the host of a URL: a user, and a password or a token.
_USER = re.compile(r"(?<=://)[^/\s'\"]*@")

#: A parameter of a URL, up to its value; in those of signed ones is all that it takes to read the file.
_PARAMETER = re.compile(r"([?&#;][^=?&#;\s'\"]+=)[^&#\s'\"]*?(?=[:.,;)]*(?:[&#\s'\"]|$))")


#: What moves the cursor of a terminal, hides text or turns it around; line ends and tabs are none.
_UNSEEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def printable(text: str) -> str:
    """A text in which nothing acts on a terminal: what would is escaped as in JSON, `\u001b`."""
    return _UNSEEN.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def shown(text: str, longest: int = LONGEST) -> str:
    """A text as part of a message, or a message; a long one without its middle."""
    if len(text) > longest:
        half = longest // 2
        text = f"{text[:half]} [... {len(text) - 2 * half} characters ...] {text[-half:]}"
    if "://" in text:
        text = _PARAMETER.sub(r"\1***", _USER.sub("***@", text))
    # Half of a character, which neither a file nor a terminal takes.
    return printable(text.encode(errors="backslashreplace").decode())
