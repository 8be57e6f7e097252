"""A cutoff far beyond the list costs nothing, and its figures are those of the formula."""

import math
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from referred import expected_gain

import polars_ir as ir
from polars_ir.language.measures.positions import EXACT, over_places

# ruff: noqa: ARG005

TESTS = Path(__file__).resolve().parents[2]

#: A term, the same of a plain number, and what the sum can be told by.
TERMS = {
    "harmonic": (lambda place: 1 / place, lambda i: 1 / i),
    "logarithmic": (lambda place: 1 / (place + 1).log(2), lambda i: 1 / math.log2(i + 1)),
    "slowly falling": (
        lambda place: 0.9999 ** (place.cast(pl.Float64) - 1) / place,
        lambda i: 0.9999 ** (i - 1) / i,
    ),
    "constant": (lambda place: place.clip(1, 1) / 1.0, lambda i: 1.0),
}


@pytest.mark.parametrize("k", [1, 2, EXACT - 1, EXACT, EXACT + 1, 123_456])
@pytest.mark.parametrize("name", TERMS)
def test_a_sum_over_places_is_that_of_its_terms(name, k):
    term, of_number = TERMS[name]
    assert over_places(term, k) == pytest.approx(math.fsum(map(of_number, range(1, k + 1))), rel=1e-14, abs=0)


def test_a_sum_over_more_places_than_can_be_added_up():
    # H(n) = log(n) + gamma + 1/(2n) - ...
    wanted = math.log(2**31) + 0.57721566490153286 + 1 / 2**32
    assert over_places(TERMS["harmonic"][0], 2**31) == pytest.approx(wanted, rel=1e-14, abs=0)


#: Measures of readers, with the continuation of each, whose cutoff is beyond the places that are added up one by one.
LONG = 23_456
OF_READERS = {
    "SDCG": lambda i, g, c: math.log(i + 1) / math.log(i + 2),
    "BPM(T=3)": lambda i, g, c: float(c < 3),
    "NERR8": lambda i, g, c: 1 - g,
    "NERR9": lambda i, g, c: i / (i + 1) * (1 - g),
}
RELEVANT = [2, 3, 700, 15_000]


@pytest.mark.parametrize("max_rel", [1, 3])
@pytest.mark.parametrize("name", OF_READERS)
def test_a_long_list_has_the_figure_of_its_formula(name, max_rel):
    run = {"q": [f"d{i}" for i in range(1, 20_001)]}
    qrels = {"q": {f"d{i}": 1 for i in RELEVANT}}
    measure = f"{name[:-1]},max_rel={max_rel})" if name.endswith(")") else f"{name}(max_rel={max_rel})"
    gains = [0.0] * 20_000
    for i in RELEVANT:
        gains[i - 1] = 1 / max_rel
    found = ir.evaluate(run, qrels, f"{measure}@{LONG}").item(0, 1)
    assert found == pytest.approx(expected_gain(gains, OF_READERS[name], LONG), rel=1e-12, abs=0)


OF_ONES_OWN = {
    "sure": (None, lambda i, g, c: 1.0),
    "constant": (pl.lit(0.7), lambda i, g, c: 0.7),
    "nearly sure": (pl.lit(1 - 1e-9), lambda i, g, c: 1 - 1e-9),
    "of the gain": (0.9 - 0.9 * ir.gained, lambda i, g, c: 0.9 - 0.9 * g),
    "only after a gain": (ir.gained, lambda i, g, c: g),
    "of all gains": (1 / (1 + ir.cumulated), lambda i, g, c: 1 / (1 + c)),
    "of the gain and all": (0.9 - 0.1 * ir.gained - 0.1 * ir.cumulated, lambda i, g, c: 0.9 - 0.1 * g - 0.1 * c),
}


@pytest.mark.parametrize("name", OF_ONES_OWN)
def test_a_model_of_ones_own_has_the_figure_of_its_formula(name):
    continuation, chance = OF_ONES_OWN[name]
    if continuation is not None:
        continuation = continuation.alias(name)
    measure = ir.user_model(continuation=continuation, k=LONG, max_rel=2)
    found = ir.evaluate({"q": list("abcd")}, {"q": ["b", "d"]}, measure).item(0, 1)
    assert found == pytest.approx(expected_gain([0.0, 0.5, 0.0, 0.5], chance, LONG), rel=1e-12, abs=0)


@pytest.mark.parametrize("continuation", [ir.place / (ir.place + 1), ir.place / (ir.place + 1 + ir.cumulated)])
def test_a_model_that_reads_its_place_is_refused_a_cutoff_beyond_its_table(continuation):
    with pytest.raises(ir.IRError, match=r"CWL: k must be at most 10,000 for a continuation that reads ir.place; got"):
        ir.user_model(continuation=continuation, k=10_001)


@pytest.mark.parametrize("alpha", [0, 0.5, 1e-4, 1])
def test_cascade_measures_are_divided_by_the_sum_over_all_places(alpha):
    qrels = pl.DataFrame({"query_id": "q", "subtopic": ["a", "b"], "doc_id": ["d1", "d2"], "relevance": 1})
    measures = [ir.alpha_dcg(k=LONG, alpha=alpha), ir.err_ia(k=LONG, alpha=alpha)]
    found = ir.evaluate({"q": ["d1", "d2"]}, qrels, measures).row(0)[1:]
    for value, discount in zip(found, [lambda i: 1 / math.log2(i + 1), lambda i: 1 / i], strict=True):
        most = 2 * math.fsum((1 - alpha) ** (i - 1) * discount(i) for i in range(1, LONG + 1))
        assert value == pytest.approx((discount(1) + discount(2)) / most, rel=1e-12, abs=0)


@pytest.mark.parametrize("discount", ["log2", "ln", "jarvelin", "rank", "none"])
def test_ndcg_out_of_k_documents_is_divided_by_the_sum_over_all_places(discount):
    of_place = {
        "log2": lambda i: math.log2(i + 1),
        "ln": lambda i: math.log(i + 1),
        "jarvelin": lambda i: max(1, math.log2(i)),
        "rank": lambda i: i,
        "none": lambda i: 1,
    }[discount]
    measure = ir.ndcg(k=LONG, discount=discount, denominator="k")
    found = ir.evaluate({"q": ["d1", "d2"]}, {"q": {"d1": 1, "d2": 3}}, measure).item(0, 1)
    gained = 1 / of_place(1) + 3 / of_place(2)
    wanted = gained / (3 * math.fsum(1 / of_place(i) for i in range(1, LONG + 1)))
    assert found == pytest.approx(wanted, rel=1e-12, abs=0)


#: Every measure with a cutoff, under each option that has to do with it, at cutoffs that no list reaches.
HOSTILE = """
import resource, sys, warnings
sys.path.insert(0, sys.argv[1])


def highest():
    # Not `ru_maxrss`, in which the process that started this one counts, too.
    (kilobytes,) = (line.split()[1] for line in open("/proc/self/status", encoding="utf-8") if line.startswith("VmHWM"))
    return int(kilobytes) >> 10


resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
import polars_ir as ir
from generated import collection_of, samples
warnings.simplefilter("ignore")
for kind in ("documents", "subtopics"):
    run, qrels = collection_of(kind, 1)
    specs = [spec for spec in ir.CATALOG.values() if spec.kind == kind and "k" in spec.parameters]
    # Cutoffs that a list reaches come first: what they take is of the process, of its allocator and of Polars' threads.
    for k in (10, 10**8, 2**31):
        calls = [(spec, arguments) for spec in specs for arguments in samples(spec) if "k" not in arguments]
        measures = [spec.function(k=k, **arguments) for spec, arguments in calls]
        values = ir.evaluate(run, qrels, measures)
        assert values.height == qrels["query_id"].n_unique()
        again = ir.evaluate(run, qrels, [ir.parse(name) for name in values.columns[1:]])
        assert again.equals(values)
        if kind == "documents":
            expected = [spec.function(k=k) for spec in specs if spec.expected]
            assert ir.evaluate(run, qrels, expected, ties="expected").width == len(expected) + 1
            ir.evaluate(run, qrels, [spec.function(k=k) for spec in specs], bounds=True)
        if k == 10:
            before = highest()
    print(highest() - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the limit on memory is Linux's")
@pytest.mark.whole("memory of a process")
def test_no_cutoff_takes_more_memory_than_the_list_is_long():
    command = [sys.executable, "-c", HOSTILE, str(TESTS / "support")]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, encoding="utf-8")  # noqa: S603  # our own code
    assert ran.returncode == 0, ran.stderr[-2000:]
    # A column of 10^8 places would be 400 MB at the least.
    assert max(map(int, ran.stdout.split())) < 300, ran.stdout


def test_patience_that_hardly_ends_costs_nothing():
    qrels = pl.DataFrame({"query_id": "q", "subtopic": ["a", "b"], "doc_id": ["d1", "d2"], "relevance": 1})
    found = ir.evaluate({"q": ["d1", "d2"]}, qrels, ir.nnrbp(beta=1 - 2**-53)).item(0, 1)
    assert found == pytest.approx(1.0, rel=1e-12)
