"""A measure as it was asked for with `-m`, its parameters read as C reads numbers."""

from __future__ import annotations

from typing import NamedTuple

from polars_ir.trec_eval.options import WRONG_FILE, Options, TrecEvalError, leading_number


class Asked(NamedTuple):
    """A measure with its parameters: as the text that was given, or the cutoff of one of its figures."""

    name: str
    given: str | None
    options: Options
    cutoff: float | None = None

    @property
    def numbers(self) -> list[float]:
        """The parameters as numbers, in the order they were given."""
        numbers = [leading_number(text, float) for text in (self.given or "").split(",")]
        if None in numbers:
            raise TrecEvalError(f"{self.name}: parameters must be numbers; got {self.given!r}.", WRONG_FILE)
        return [number for number in numbers if number is not None]

    @property
    def pairs(self) -> dict[str, float]:
        """The parameters `name=number`; the first of a name holds."""
        pairs = [pair.partition("=") for pair in (self.given or "").split(",")] if self.given else []
        values = {name: leading_number(value, float) for name, _, value in reversed(pairs)}
        if not all(sign for _, sign, _ in pairs) or None in values.values():
            raise TrecEvalError(
                f"{self.name}: parameters must be pairs, as in {self.name}.1=2; got {self.given!r}.", WRONG_FILE
            )
        return {name: value for name, value in values.items() if value is not None}

    @property
    def gains(self) -> dict[float, float]:
        """The gains of levels; what names no whole number is of no level."""
        return {int(name): value for name, value in self.pairs.items() if name.lstrip("+-").isdecimal()}
