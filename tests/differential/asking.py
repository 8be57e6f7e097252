"""Measures as the package is asked for them, and arguments of theirs at random."""

import random
from collections.abc import Sequence

import polars as pl

import polars_ir as ir

from .reference.rows import Asked
from .reference.words import TRUSTED

#: Values of parameters by `measure.parameter` or parameter; those of `gains` are made for the grades there are.
VALUES: dict[str, Sequence[object]] = {
    "k": (1, 2, 3, 5, 10, 20, 200),
    "rel": (0.5, 1, 2, 3),
    "beta": (0.5, 2),
    "p": (0.1, 0.5, 0.99),
    "max_rel": (1, 2, 3, 5),
    "min_rel": (0, 0.5),
    "T": (0.3, 0.5, 2, 2.5),
    "negatives": (1, 2, 5, 100),
    "normalize": (True, False),
    "dcg": ("log2", "exp-log2", "binary"),
    "counting": ("all", "implied", "retrieved"),
    "discount": ("log2", "ln", "jarvelin", "rank", "none"),
    "denominator": ("min(k,R)", "R", "k", "hits"),
    "recall": (0.0, 0.1, 0.25, 0.3, 0.5, 0.7, 1.0),
    "rounding": ("nearest", "up"),
    "multiple": (0.1, 0.4, 0.5, 1, 2),
    "coefficients": ((2, -1, -0.5, 0.25), (1, -1, 0, 0), (0, 0, 0, 1)),
    "n_docs": (1000,),
    "alpha": (0, 0.1, 0.9, 1),
    # Sums over so many places are closed forms.
    **{f"{name}.k": (1, 3, 10, 200, 20_000) for name in ("SDCG", "BPM", "NERR8", "NERR9", "alpha_DCG", "ERR_IA")},
    "nDCG.k": (1, 2, 3, 5, 10, 20, 20_000),
    "Q.beta": (0, 0.5, 2),
    "NRBP.beta": (0.2, 0.8),
    "nNRBP.beta": (0.2, 0.6),
    "weights": ("importance",),
    "continuation": ("constant", "of_the_place", "of_the_gain", "of_all_gains", "of_everything"),
}

#: Gains that are shares of the most a document can be worth.
SHARES = (0.0, 0.1, 0.25, 0.5, 0.8, 1.0)
GAINS = (0, 0.5, 1, 2, 3, 7)

#: Continuations of a user's own by their names.
CONTINUATIONS = {
    "constant": pl.lit(0.7),
    "of_the_place": ir.place / (ir.place + 1),
    "of_the_gain": 0.9 - 0.9 * ir.gained,
    "of_all_gains": 1 / (1 + ir.cumulated),
    "of_everything": (1 - ir.gained / 2) * ir.place / (ir.place + 1 + ir.cumulated),
}

#: The measures of `differential.reference.own`, and the text of grades.
OWN = {
    "relstring": lambda k: ir.relevance_string(k=k),
    "first_judged": lambda: (1 / ir.rank.filter(ir.relevance.is_not_null())).max().alias("first_judged"),
    "price": lambda k: pl.col("price").filter(ir.rank <= k).sum().alias(f"price@{k}"),
}


def arguments(chance: random.Random, name: str, grades: Sequence[float], *, trust: bool) -> dict[str, object]:
    """Arguments of a measure: each parameter has its default or, about half the time, another value."""
    if name in OWN:
        return {"k": chance.choice((1, 3, 10))} if name in ("relstring", "price") else {}
    info = ir.CATALOG[name]
    chosen: dict[str, object] = {}
    for parameter in info.parameters:
        if chance.random() < 0.5 or parameter in ("budget", "cost", "over"):  # columns of the run: tests of their own
            continue
        if parameter == "gains":
            chosen[parameter] = gains(chance, name, grades, trust=trust)
            continue
        values = VALUES.get(f"{name}.{parameter}", VALUES.get(parameter))
        assert values is not None, f"{name} has a new parameter {parameter!r}: give it values in differential/asking.py"
        possible = [
            value for value in values if parameter == "continuation" or info.options[parameter].value.holds(value)
        ]
        chosen[parameter] = chance.choice(possible)
    if not chosen.get("min_rel", 0) < chosen.get("max_rel", 1):
        del chosen["min_rel"]
    return chosen


def gains(chance: random.Random, name: str, grades: Sequence[float], *, trust: bool) -> object:
    """A map with a gain for every grade, or an expression."""
    of_subtopics = ir.CATALOG[name].kind == "subtopics"
    if trust and not of_subtopics and name != "RBP" and chance.random() < 0.3:
        return TRUSTED
    pool = SHARES if of_subtopics or name == "RBP" else GAINS
    mapped = {grade: chance.choice(pool) for grade in sorted(set(grades)) if grade > 0 or chance.random() < 0.3}
    return mapped or {1: 1}


def expression(asked: Asked) -> pl.Expr:
    """The measure as an expression."""
    given = dict(asked.arguments)
    if asked.name in OWN:
        return OWN[asked.name](**given)
    if given.get("gains") == TRUSTED:
        given["gains"] = (ir.relevance * pl.col("trust")).alias(TRUSTED)
    if word := given.get("continuation"):
        given["continuation"] = CONTINUATIONS[word].alias(word)
    return ir.CATALOG[asked.name].function(**given)


def has_words(asked: Asked) -> bool:
    """True if some argument stands for an expression, which no name can hold."""
    return (
        asked.name in ("first_judged", "price")
        or asked.arguments.get("gains") == TRUSTED
        or ("continuation" in asked.arguments)
    )
