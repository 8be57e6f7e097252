"""The methods and norms of products that differ from those of the papers, a record each.

Conventions: a dialect changes what a method or a norm is, never the data. The term of a product that ignores weights
does not read them, so that giving them is an error.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Literal, NamedTuple, get_args

import polars as pl

from polars_ir.errors import Code, Fix, OptionError, nearest, option, quoted
from polars_ir.fusion import methods
from polars_ir.fusion.methods import BY_NAME, TRAINED, Method, combined, one_of_all_weights, rank, score, weight
from polars_ir.language.options import check, one_of, positive
from polars_ir.runs.norms import Norm, dbsf, l2, min_max, norm_of, shares


class Dialect(NamedTuple):
    """A method's or norm's name as a product uses it."""

    product: str
    name: str
    formula: str
    method: Callable[..., Method] | None = None
    norm: Norm | None = None
    by_rank_column: bool = False


def _rrf(numerator: pl.Expr | float, place: pl.Expr, **kind: Any) -> Callable[..., Method]:
    """A method of terms `numerator / (k + place)`."""

    def method(k: float = 60) -> Method:
        return Method("rrf", numerator / (check("k", k, positive()) + place), **kind)

    return method


def _stretched(k: float = 2) -> Method:
    if check("k", k, positive()) < 1:
        raise OptionError(f"must be 1 or more, where terms fall with the rank; got {k!r}.", about="k")
    # A weight of 0 makes the rank infinite, and the term 0.
    return Method("rrf", 1 / (rank / weight + (k - 1)), by_row=True)


def _at_most_one(k: float = 60) -> Method:
    scaled = combined * one_of_all_weights * (k + 1)
    return Method("rrf", weight / (check("k", k, positive()) + rank), final=scaled, by_row=True)


_QDRANT_DBSF = partial(Method, "dbsf", score, norm=dbsf(ddof=1, constant=0.5))
_HAYSTACK_DBSF = partial(Method, "dbsf", score, pl.col("term").max(), norm=dbsf(ddof=0, constant=0.0))
_LLAMAINDEX_DBSF = partial(Method, "dbsf", weight * score, norm=dbsf(ddof=0, constant=None), by_row=True)

_VARIES, _TO_ONE, _TO_HALF = pl.when(score.max() > score.min()), min_max().value, min_max(constant=0.5).value

#: OpenSearch's means would skip a 0. LlamaIndex, Qdrant and ranx differ in constant scores, and in one alone.
_FLOORED = Norm("min-max", pl.when(_TO_ONE == 0).then(0.001).otherwise(_TO_ONE))
_ONE_IF_POSITIVE = Norm("min-max", _VARIES.then(_TO_ONE).otherwise((score.max() > 0).cast(pl.Float64)))
_ONE_ALONE_STAYS = Norm("min-max", pl.when(pl.len() == 1).then(score).otherwise(_TO_HALF))
_NONE_IF_CONSTANT = Norm("sum", _VARIES.then(shares().value).otherwise(0.0))

_FROM_ZERO = _rrf(weight, rank - 1, by_row=True, falling=True)

#: The run's score is its negated rank column, since rank 1 is best.
_OF_RANK_COLUMN = _rrf(1, -score)

_MIN_MAX, _DBSF = "(s - min) / (max - min)", "(s - mean + 3 std) / (6 std)"

#: The differences from `METHODS` and `NORMS`, product by product.
DIALECTS: tuple[Dialect, ...] = (
    Dialect("paper", "rrf", "w / (60 + rank)", method=methods.rrf),
    Dialect("elasticsearch", "rrf", "w / (60 + rank)", method=methods.rrf),
    Dialect("elasticsearch", "min-max", f"{_MIN_MAX}; constant scores stay", norm=min_max(constant=None)),
    Dialect("opensearch", "rrf", "w / (60 + rank)", method=methods.rrf),
    Dialect("opensearch", "min-max", f"{_MIN_MAX}, 0.001 for 0; constant scores 1", norm=_FLOORED),
    Dialect("opensearch", "l2", "s / sqrt(sum of s^2)", norm=l2()),
    Dialect("opensearch", "mean", "sum of w s / sum of w, absent 0", method=methods.mean),
    Dialect("opensearch", "geometric", "exp(sum of w ln s / sum of w), absent skipped", method=methods.geometric_mean),
    Dialect("opensearch", "harmonic", "sum of w / sum of (w / s), absent skipped", method=methods.harmonic_mean),
    Dialect("weaviate", "rrf", "w / (60 + i), i from 0", method=_FROM_ZERO),
    Dialect("weaviate", "min-max", f"{_MIN_MAX}; constant scores 1", norm=min_max()),
    Dialect("llamaindex", "rrf", "1 / (60 + i), i from 0; no weights", method=_rrf(1, rank - 1)),
    Dialect("llamaindex", "min-max", f"{_MIN_MAX}; constant scores 1 if above 0, else 0", norm=_ONE_IF_POSITIVE),
    Dialect("llamaindex", "dbsf", f"sum of w {_DBSF}, std of the population", method=_LLAMAINDEX_DBSF),
    Dialect("chroma", "rrf", "w / (60 + i), i from 0 (its own scores have a minus)", method=_FROM_ZERO),
    Dialect("qdrant", "rrf", "1 / ((i + 1) / w + k - 1), i from 0, k = 2", method=_stretched),
    Dialect("qdrant", "dbsf", f"sum of {_DBSF}, std of the sample; constant scores 0.5", method=_QDRANT_DBSF),
    Dialect("qdrant", "min-max", f"{_MIN_MAX}; constant scores 0.5, one alone stays", norm=_ONE_ALONE_STAYS),
    Dialect("haystack", "rrf", "61 sum of (w / sum of w) / (61 + i), i from 0", method=_at_most_one),
    Dialect("haystack", "dbsf", f"max of {_DBSF}, std of the population; constant 0 to 3.3", method=_HAYSTACK_DBSF),
    Dialect("pyserini", "rrf", "1 / (60 + the rank column); no weights", method=_OF_RANK_COLUMN, by_rank_column=True),
    Dialect("ranx", "rrf", "1 / (60 + rank); no weights", method=_rrf(1, rank)),
    Dialect("ranx", "min-max", f"{_MIN_MAX}; constant scores 0", norm=min_max(constant=0.0)),
    Dialect("ranx", "sum", "(s - min) / sum of (s - min); constant scores 0", norm=_NONE_IF_CONSTANT),
)

PRODUCTS = tuple(dict.fromkeys(dialect.product for dialect in DIALECTS))


#: The contribution of a run that lacks a document: nothing, 0, or the lowest term of its list.
Missing = Literal["skip", "zero", "min"]


class Fusion(NamedTuple):
    """A method, the norm of its scores, the terms of missing documents, and whether ranks come from a column."""

    method: Method
    norm: Norm | None = None
    missing: Missing = "skip"
    by_rank_column: bool = False

    @property
    def absents(self) -> list[pl.Expr]:
        """Term and score of a document missing from a run, where method or norm define them."""
        absents = [self.method.absent, None if self.norm is None else self.norm.absent]
        return [absent for absent in absents if absent is not None]

    @property
    def scores_absent(self) -> bool:
        """True where missing documents get terms from the norm's score for them."""
        return self.norm is not None and self.norm.absent is not None and "score" in self.method.term.meta.root_names()

    @property
    def read(self) -> set[str]:
        """The columns that the terms and the norm read."""
        expressions = [self.method.term, *self.absents, *([] if self.norm is None else [self.norm.value])]
        return {name for expression in expressions for name in expression.meta.root_names()}


def fusion_of(
    method: str | Method,
    norm: str | Norm | pl.Expr | None = None,
    dialect: str | None = None,
    k: float | None = None,
    missing: Missing = "skip",
) -> Fusion:
    """Method and norm by name, case-insensitively, in a dialect."""
    method = method.lower() if isinstance(method, str) else method
    norm = norm.lower() if isinstance(norm, str) else norm
    check("missing", missing, one_of(*get_args(Missing)))
    if not isinstance(method, (str, Method)):
        raise _no_method(method)
    if dialect is not None and not (isinstance(dialect, str) and dialect in PRODUCTS):
        raise OptionError.value("dialect", dialect, PRODUCTS)
    records = [record for record in DIALECTS if record.product == dialect]
    of_method = next((record for record in records if record.method and record.name == method), None)
    # An expression is equal to no name: it makes another expression.
    named = norm if isinstance(norm, str) else None
    of_norm = next((record.norm for record in records if record.norm and record.name == named), None)
    if dialect is not None and of_method is None and of_norm is None:
        names = quoted(record.name for record in records)
        options = {name: value for name, value in (("method", method), ("norm", norm)) if value is not None}
        came = ", ".join(option(name, value) for name, value in options.items())
        says = f"{dialect!r} is known for {names}; got {came}."
        raise OptionError(says, about="dialect", fix="Leave it out for the method of the papers")
    record = _method(method, of_method, k)
    norm_record = record.norm if norm is None else of_norm or norm_of(norm)
    if record.of_positive and missing == "zero":
        missing = "skip"
    return Fusion(record, norm_record, missing, of_method is not None and of_method.by_rank_column)


def _method(method: str | Method, of_dialect: Dialect | None, k: float | None) -> Method:
    if k is not None and method != "rrf":
        name = method.name if isinstance(method, Method) else method
        says = f"is the constant of {option('method', 'rrf')}; got {k!r} with the method {name!r}."
        raise OptionError(says, about="k")
    if isinstance(method, Method):
        return method
    if method in TRAINED:
        fix = Fix("Train it first", Code(f"ir.fusion.train({method!r}, training_runs, qrels)"))
        raise OptionError(f"{method!r} learns from judged queries.", about="method", fix=fix)
    if method not in BY_NAME:
        raise _no_method(method)
    if of_dialect is None or of_dialect.method is None:
        return BY_NAME[method] if k is None else methods.rrf(k)
    return of_dialect.method() if k is None else of_dialect.method(k)


def _no_method(got: object) -> OptionError:
    says = f"must be one of {quoted(BY_NAME)}, or a Method of your own; got {got!r}."
    return OptionError(says, about="method", near=nearest(str(got), BY_NAME))
