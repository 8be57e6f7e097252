"""In which order ir_measures reports, and what it leaves out: each of its providers reports in its own way.

Conventions: a provider reports what it computes, for the queries of the run that have judgments, and then 0 for its
other measures and queries, by their names. Where it takes its measures from a set of Python, whose order changes from
run to run, they are in the order they were asked for here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from polars_ir.language.identity import Call
from polars_ir.language.sets import TREC_EVAL

#: The order of queries: that of the run, or rising as numbers.
Queries = Literal["run", "number"]

#: The order of tied documents: ids falling, of scores in single precision or double; ids rising; that of the run.
Ties = Literal["single", "falling", "rising", "input"]

#: Query, label and value.
Row = tuple[Any, str, float]

#: The measures of pytrec_eval, by what it calls them.
PYTREC_EVAL = {
    "AP": "map",
    "Rprec": "Rprec",
    "bpref": "bpref",
    "RR": "recip_rank",
    "IPrec": "iprec_at_recall",
    "P": "P",
    "R": "recall",
    "infAP": "infAP",
    "nDCG": "ndcg",
    "Success": "success",
    "SetP": "set_P",
    "R_cap": "set_relative_P",
    "SetR": "set_recall",
    "SetAP": "set_map",
    "SetF": "set_F",
    "NumQ": "num_q",
    "NumRet": "num_ret",
    "NumRel": "num_rel",
    "NumRelRet": "num_rel_ret",
}

#: Measures of pyndeval, of subtopics, and of cwl_eval.
PYNDEVAL = ("ERR_IA", "nERR_IA", "alpha_DCG", "alpha_nDCG", "NRBP", "nNRBP", "AP_IA", "P_IA", "StRecall")
CWL_EVAL = ("RBP", "BPM", "SDCG", "NERR8", "NERR9", "NERR10", "NERR11", "INST", "INSQ")

#: The decimals that gdeval prints, whose output ir_measures reads.
GDEVAL_DECIMALS = 5


class Reported(NamedTuple):
    """A measure as it is reported: its label, its call, and its value by query; a query that is absent is left out."""

    label: str
    call: Call | None
    judged_only: bool
    values: Mapping[Any, float]

    @property
    def name(self) -> str:
        """The name in the catalogue; none for what is no measure."""
        return self.call.measure if self.call else ""

    @property
    def arguments(self) -> Mapping[str, Any]:
        """The parameters of the measure."""
        return self.call.arguments if self.call else {}


class Provider(NamedTuple):
    """A provider: its name, how it orders tied documents and queries, and what measures it evaluates together."""

    name: str
    ties: Ties
    queries: Queries
    together: Callable[[Reported], Any]


def _invocation(measure: Reported) -> Any:
    """What pytrec_eval evaluates in one pass: measures of one level and one map of gains."""
    level = 1 if measure.name in ("nDCG", "NumQ", "NumRet") else measure.arguments.get("rel", 1)
    return (level, str(measure.arguments.get("gains")), measure.judged_only)


#: In the order that ir_measures asks them; the last one has what it does not know.
PROVIDERS = (
    Provider("pytrec_eval", "single", "run", _invocation),
    Provider("cwl_eval", "input", "run", lambda _: None),
    Provider("compat", "rising", "run", lambda measure: measure.label),
    Provider("pyndeval", "rising", "run", lambda m: [m.arguments.get(name) for name in ("rel", "alpha", "beta")]),
    Provider("judged", "rising", "run", lambda _: None),
    Provider("msmarco", "rising", "run", lambda measure: measure.label),
    Provider("gdeval", "falling", "number", lambda measure: measure.arguments["k"]),
    Provider("accuracy", "input", "run", lambda measure: measure.label),
    Provider("", "single", "run", lambda _: None),
)


def provider_of(call: Call | None, *, judged_only: bool) -> Provider:
    """The provider that ir_measures takes for a measure."""
    arguments = call.arguments if call else {}
    name, cutoff = call.measure if call else "", arguments.get("k")
    if name == "nDCG" and arguments["dcg"] != "log2":
        is_gdeval = cutoff is not None and arguments["gains"] is None and not judged_only
        return _named("gdeval" if is_gdeval else "")
    if name == "RR" and cutoff is not None:
        return _named("msmarco")
    provider_names = {**dict.fromkeys(PYTREC_EVAL, "pytrec_eval"), **dict.fromkeys(CWL_EVAL, "cwl_eval")}
    provider_names |= {
        **dict.fromkeys(PYNDEVAL, "pyndeval"),
        "Compat": "compat",
        "Judged": "judged",
        "Accuracy": "accuracy",
    }
    return _named("gdeval" if name == "ERR" and cutoff is not None else provider_names.get(name, ""))


def in_order(measures: Sequence[Reported], queries: Sequence[Any], judged: Sequence[Any]) -> Iterator[Row]:
    """Everything that is reported: `queries` are those of the run, `judged` those of the qrels."""
    left: set[tuple[str, Any]] = set()
    provider_by_label = {m.label: provider_of(m.call, judged_only=m.judged_only) for m in measures}
    for provider in PROVIDERS:
        computed = [measure for measure in measures if provider_by_label[measure.label] == provider]
        missing = {(measure.label, query) for measure in computed for query in judged}
        for query, label, value in _computed(provider, computed, _sorted(queries, provider.queries)):
            missing.discard((label, query))
            yield query, label, value
        if provider.name == "accuracy":
            left = missing  # it reports nothing else, unless other providers report beside it
        else:
            yield from _zeros(missing)
    if any(provider.name != "accuracy" for provider in provider_by_label.values()):
        yield from _zeros(left)


def _computed(provider: Provider, measures: Sequence[Reported], queries: Sequence[Any]) -> Iterator[Row]:
    """What a provider computes: the measures that it evaluates together query by query."""
    groups: dict[str, list[Reported]] = {}
    n_set_f = 0
    for measure in measures:
        # pytrec_eval takes one SetF in a pass.
        n_set_f += measure.name == "SetF"
        group = (provider.together(measure), n_set_f if measure.name == "SetF" and n_set_f > 1 else 0)
        groups.setdefault(str(group), []).append(measure)
    for group_of in groups.values():
        ordered = sorted(group_of, key=_place)
        for query in queries:
            yield from ((query, measure.label, measure.values[query]) for measure in ordered if query in measure.values)


def _place(measure: Reported) -> tuple[float, ...]:
    """Where a measure stands among those that are evaluated with it: in trec_eval's order, or as it was asked for."""
    name, cutoff = PYTREC_EVAL.get(measure.name), measure.arguments.get("k", measure.arguments.get("recall"))
    if name is None or measure.arguments.get("dcg") == "exp-log2":
        return (int(name is None),)  # gdeval has nDCG before ERR
    cut = {"map": "map_cut", "ndcg": "ndcg_cut"}.get(name, name) if cutoff is not None else name
    return (list(TREC_EVAL).index(cut), cutoff or 0)


def _zeros(missing: set[tuple[str, Any]]) -> Iterator[Row]:
    yield from ((query, label, 0.0) for label, query in sorted(missing, key=lambda one: (one[0], str(one[1]))))


def _sorted(queries: Sequence[Any], order: Queries) -> Sequence[Any]:
    if order == "run":
        return queries
    return sorted(queries, key=int if all(str(query).isdecimal() for query in queries) else str)


def _named(name: str) -> Provider:
    return next(provider for provider in PROVIDERS if provider.name == name)
