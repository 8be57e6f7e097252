"""Messages of errors."""

from collections.abc import Callable

import pytest

from polars_ir.errors import IRError


def message_of(call: Callable[[], object], kind: type[IRError] = IRError) -> str:
    """The message of the error that a call raises."""
    with pytest.raises(kind) as error:
        call()
    return str(error.value)
