"""How the lists of all users use the catalogue: worked numbers, kits' own, and brute force over items and pairs."""

import itertools
import math
import random

import polars as pl
import pytest

import polars_ir as ir

TRAIN = {"u1": "abc", "u2": "ab", "u3": "ad", "u4": "a"}
LISTS = {"u1": "de", "u2": "cd", "u3": "bc", "u4": "b"}
HISTORY = pl.DataFrame(
    [(user, item) for user, of in TRAIN.items() for item in of], ["user_id", "item_id"], orient="row"
)
RUN = pl.DataFrame(
    [(user, item, rank) for user, of in LISTS.items() for rank, item in enumerate(of, 1)],
    ["user_id", "item_id", "rank"],
    orient="row",
)
ITEMS = pl.DataFrame({"item_id": list("abcdef"), "genre": "x"})
AT_2 = ["ItemCoverage@2", "Gini@2", "Entropy@2", "Personalisation@2"]
EXACT = {"abs": 5e-5, "rel": 0}

outside = pytest.mark.filterwarnings("ignore:.* not in the catalogue:polars_ir.IRWarning")


def test_the_figures_of_a_worked_example_with_all_items():
    assert RUN.ir.exposure(AT_2, items=ITEMS).row(0) == pytest.approx([0.6667, 0.4048, 1.9502, 0.75], **EXACT)
    assert RUN.ir.exposure(AT_2, items=ITEMS, history=HISTORY).equals(RUN.ir.exposure(AT_2, items=ITEMS))


def test_without_items_the_catalogue_is_that_of_the_history_and_others_count_nowhere_which_is_told():
    with pytest.warns(ir.IRWarning, match="1 item is in lists but not in the catalogue, and counts nowhere; .* 'e'"):
        found = RUN.ir.exposure(AT_2, history=HISTORY)
    assert found.row(0) == pytest.approx([0.75, 0.25, 1.5850, 0.75], **EXACT)


def test_the_four_measures_at_10_are_those_of_a_call_that_names_none():
    assert RUN.ir.exposure(items=ITEMS).columns == ["ItemCoverage@10", "Gini@10", "Entropy@10", "Personalisation@10"]


#: What kits call a measure, its column here, and its figure with all items.
OF_KITS = {
    "rectools CatalogCoverage@2": ("ItemCoverage@2", 0.6667),
    "lenskit ListGini@2": ("Gini@2", 0.4048),
    "LensKit ExposureGini@2": ("Gini(p=0.85)@2", 0.4211),
    "recbole giniindex@2": ("Gini(extra=1)@2", 0.4898),
    "recbole itemcoverage@2": ("ItemCoverage(extra=1)@2", 4 / 7),
    "recommenders distributional_coverage@2": ("Entropy@2", 1.9502),
    "Gini(discount='jarvelin')@2": ("Gini(discount='jarvelin')@2", 0.4048),
    "gini(discount='log2', k=2)": ("Gini(discount='log2')@2", 0.4495),
    "Personalization@2": ("Personalisation@2", 0.75),
    "item_coverage@1": ("ItemCoverage@1", 0.5),
}


@pytest.mark.parametrize("name", OF_KITS)
def test_a_kits_word_has_the_kits_figure(name):
    column, wanted = OF_KITS[name]
    found = RUN.ir.exposure(name, items=ITEMS)
    assert found.columns == [column]
    assert found.item() == pytest.approx(wanted, **EXACT)


def test_an_entropy_that_needs_no_catalogue_is_the_kits_without_one():
    assert RUN.ir.exposure("recommenders distributional_coverage@2").item() == pytest.approx(1.9502, **EXACT)


@outside
def test_replay_counts_recommended_items_of_train_alone():
    assert RUN.ir.exposure("replay Coverage@2", history=HISTORY).item() == 0.75


@pytest.mark.parametrize(
    "name",
    [
        *("elliot Gini", "elliot ItemCoverage", "elliot UserCoverage", "elliot SEntropy", "warprec Gini"),
        *("warprec ItemCoverage", "warprec ShannonEntropy", "evidently PersonalizationMetric"),
        *(
            "evidently PopularityBias",
            "recommenders catalog_coverage",
            "recbole shannonentropy",
            "rectools CoveredUsers",
        ),
    ],
)
def test_another_rule_of_a_kit_is_told(name):
    tool, word = name.split()
    for call in (lambda: RUN.ir.exposure(f"{name}@2", items=ITEMS), lambda: ir.parse(f"{name}@2")):
        with pytest.raises(ir.IRError, match=f"(?i)'{word}' of {tool} (is|takes|holds|divides)"):
            call()


def test_warprecs_and_elliots_figures_are_made_of_ours_as_their_notes_say():
    gini = RUN.ir.exposure("Gini@2", items=ITEMS).item()
    assert 1 - gini * 6 / 5 == pytest.approx(0.5143, **EXACT)
    entropy = RUN.ir.exposure("Entropy@2", items=ITEMS).item()
    assert entropy * math.log(2) == pytest.approx(1.3518, **EXACT)


def test_several_cutoffs_and_systems_have_a_column_and_a_row_each():
    runs = {"b": RUN, "a": RUN.filter(pl.col("user_id") != "u1")}
    found = ir.exposure(runs, {"Gini": [1, 2], "Entropy": None}, items=ITEMS)
    assert found.columns == ["run", "Gini@1", "Gini@2", "Entropy"]
    assert found["run"].to_list() == ["a", "b"]
    assert found.equals(ir.exposure(runs, "Gini@1,2, Entropy", items=ITEMS))
    days = pl.concat([RUN.with_columns(day=1), RUN.head(3).with_columns(day=2)])
    by_day = days.ir.exposure(AT_2, items=ITEMS, by="day")
    for day, rows in ((1, RUN), (2, RUN.head(3))):
        assert by_day.filter(day=day).drop("day").equals(rows.ir.exposure(AT_2, items=ITEMS))


def drawn(seed, n_users=30, n_items=25, longest=12):
    """Lists of several systems with equal scores, and a catalogue that lacks some items of theirs."""
    chance = random.Random(seed)
    rows = [
        (system, user, item, chance.randrange(4))
        for system in ("x", "y")
        for user in range(n_users)
        for item in chance.sample(range(n_items), chance.randrange(1, longest))
    ]
    return pl.DataFrame(rows, ["run", "user_id", "item_id", "score"], orient="row"), list(range(5, n_items + 6))


def by_brute_force(rows, catalogue, k, weigh):
    """The four figures by loops over users, pairs and items; `rows` are those of one system."""
    lists = {}
    for user, item, score in rows:
        lists.setdefault(user, []).append((score, str(item), item))
    lists = {user: [item for *_, item in sorted(of, reverse=True)[:k]] for user, of in lists.items()}
    counts, weights = dict.fromkeys(catalogue, 0), dict.fromkeys(catalogue, 0.0)
    for of in lists.values():
        for place, item in enumerate(of, 1):
            if item in counts:
                counts[item] += 1
                weights[item] += weigh(place)
    spread = sum(abs(one - other) for one in weights.values() for other in weights.values())
    shares = [count / sum(counts.values()) for count in counts.values() if count]
    pairs = [len({*one} & {*other} & {*catalogue}) / k for one, other in itertools.combinations(lists.values(), 2)]
    return (
        sum(count > 0 for count in counts.values()) / len(catalogue),
        spread / (2 * len(catalogue) * sum(weights.values())),
        -sum(share * math.log2(share) for share in shares),
        1 - sum(pairs) / len(pairs),
    )


WEIGHTS = {"": lambda _: 1.0, "(discount='log2')": lambda place: 1 / math.log2(place + 1), "(p=0.7)": lambda p: 0.7**p}


@outside
@pytest.mark.parametrize("k", [1, 4, 20])
@pytest.mark.parametrize("weights", WEIGHTS)
def test_figures_are_those_of_loops_over_users_pairs_and_items(k, weights):
    run, catalogue = drawn(k)
    names = [f"ItemCoverage@{k}", f"Gini{weights}@{k}", f"Entropy@{k}", f"Personalisation@{k}"]
    found = run.ir.exposure(names, items=pl.DataFrame({"item_id": catalogue}))
    for system, *values in found.rows():
        rows = run.filter(run=system).drop("run").rows()
        assert values == pytest.approx(by_brute_force(rows, catalogue, k, WEIGHTS[weights]), abs=1e-9)


@outside
def test_rows_in_any_order_of_any_kind_have_the_same_bits():
    run, catalogue = drawn(7)
    items = pl.DataFrame({"item_id": catalogue})
    names = [*AT_2, "Gini(discount='log2')@5", "Gini(p=0.9)", "Entropy", "Personalisation"]
    found = run.ir.exposure(names, items=items)
    assert run.sample(fraction=1, shuffle=True, seed=1).ir.exposure(names, items=items.reverse()).equals(found)
    assert pl.DataFrame(run.to_pandas().ir.exposure(names, items=items.to_pandas())).equals(found)
    for engine in ("in-memory", "streaming"):
        plan = run.lazy().ir.exposure(names, items=items.lazy())
        assert isinstance(plan, pl.LazyFrame)
        assert plan.collect(engine=engine).equals(found)
    assert run.ir.exposure(names, items=items.lazy()).equals(found)


@outside
def test_nothing_to_divide_by_is_null():
    names = [*AT_2, "Gini(p=0.5)@2"]
    others = RUN.with_columns(pl.lit("z").alias("item_id")).filter(rank=1)
    assert others.ir.exposure(names, items=ITEMS).row(0) == (0.0, None, None, 1.0, None)
    alone = RUN.filter(user_id="u1").ir.exposure(names, items=ITEMS)
    assert alone["Personalisation@2"].item() is None
    assert alone["Entropy@2"].item() == 1
    assert RUN.clear().lazy().ir.exposure(names, items=ITEMS.lazy()).collect()["Gini@2"].drop_nulls().is_empty()


def test_without_a_catalogue_entropy_and_personalisation_count_all_items():
    of_all = RUN.ir.exposure(AT_2[2:], items=ITEMS)
    assert RUN.ir.exposure(AT_2[2:]).equals(of_all)


def test_one_item_in_all_lists_is_the_most_uneven():
    same = {user: {"a": 1.0} for user in TRAIN}
    found = ir.exposure(same, ["Gini@1", "Entropy@1", "Personalisation@1"], items=ITEMS)
    assert found.row(0) == (5 / 6, 0.0, 0.0)


WRONG = {
    "no catalogue": (
        RUN.ir.exposure,
        "'ItemCoverage@10' needs a catalogue: items, or the items of the history",
    ),
    "a measure of queries": (
        lambda: RUN.ir.exposure("nDCG@10"),
        r"use evaluate for it. Call it: run.ir.evaluate\(qrels, \['nDCG@10'\]\)",
    ),
    "an expression": (lambda: RUN.ir.exposure(ir.ndcg(k=3)), "are names, such as 'Gini@10'"),
    "a table": (lambda: RUN.ir.exposure(HISTORY), "got a table"),
    **{
        f"{name} of the history": (
            lambda name=name: RUN.ir.exposure(name, history=HISTORY),
            rf"'{name}' is of all items that lists can have: those of items.*\['{name}'\], items=items\)",
        )
        for name in ("lenskit ListGini@2", "recommenders distributional_coverage@2", "rectools CatalogCoverage@2")
    },
    "all items for RePlay's": (
        lambda: RUN.ir.exposure("replay Coverage@2", history=HISTORY, items=ITEMS),
        r"'replay Coverage@2' is of the items of the history, and does not go with items.*history=train\)",
    ),
    "ids without a column": (
        lambda: RUN.ir.exposure("Gini@2", items=HISTORY["item_id"].to_numpy()),
        r"got ndarray.*pl.DataFrame\({'item_id': list\(items\)}\)",
    ),
    "ids without a column in pandas": (
        lambda: RUN.to_pandas().ir.exposure("Gini@2", items=HISTORY.to_pandas()["item_id"]),
        r"(?s)got Series.*pd.DataFrame\({'item_id': list\(items\)}\)",
    ),
    "no measure": (lambda: RUN.ir.exposure([], items=ITEMS), "at least one measure"),
    "an unknown one": (lambda: RUN.ir.exposure("Ginni@2", items=ITEMS), "Did you mean 'Gini'"),
    "one twice": (lambda: RUN.ir.exposure(["Gini@2", "gini@2"], items=ITEMS), "two measures are named 'Gini@2'"),
    "another parameter": (
        lambda: RUN.ir.exposure("Gini(q=3)"),
        "has no parameter 'q'.* It takes k, discount, p, extra",
    ),
    "two weights": (lambda: RUN.ir.exposure("Gini(p=0.5,discount='log2')"), "Gini takes discount or p"),
    "no persistence": (lambda: RUN.ir.exposure("Gini(p=2)"), "Gini: p must be at least"),
    "no cutoff": (lambda: RUN.ir.exposure("Gini@0"), "Gini: k must be a whole number"),
    "a word as cutoff": (lambda: RUN.ir.exposure("Gini@all"), "Gini: k must be a whole number"),
    "ids of another type": (
        lambda: RUN.ir.exposure(items=ITEMS.with_columns(item_id=pl.int_range(6))),
        "run column 'item_id' is String and items column 'item_id' is Int64",
    ),
    "an item twice": (lambda: RUN.ir.exposure(items=pl.concat([ITEMS, ITEMS])), "items has 12 rows that repeat"),
    "no items": (lambda: RUN.ir.exposure(items=ITEMS.clear()), "items has no rows, and so no catalogue"),
    "no history": (lambda: RUN.ir.exposure(history=HISTORY.clear()), "history has no rows, and so no catalogue"),
    "a null item": (lambda: RUN.ir.exposure(items=ITEMS.with_columns(item_id=None)), "items column|is null"),
    "an item twice in a list": (
        lambda: pl.concat([RUN, RUN]).ir.exposure(items=ITEMS),
        "that repeat the ids of another",
    ),
}


@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG)
def test_a_wrong_call_is_told(wrong):
    call, says = wrong
    with pytest.raises(ir.IRError, match=says):
        call()


@outside
@pytest.mark.parametrize("name", ["Gini@10", "item_coverage@5", "Gini(p=0.85)@2", "lenskit ListGini@2", "Entropy"])
def test_evaluate_names_exposure_for_a_measure_of_it(name):
    for call in (lambda: RUN.ir.evaluate(HISTORY.with_columns(relevance=1), [name]), lambda: ir.parse(name)):
        with pytest.raises(ir.IRError, match=r"Call it: run\.ir\.exposure") as error:
            call()
    code = str(error.value).partition("Call it: ")[2].removesuffix(".")
    assert eval(code, {"run": RUN, "train": HISTORY, "items": ITEMS}).height == 1  # noqa: S307  # code of ours


def test_a_method_of_its_name_is_said_to_be_one_of_exposure():
    with pytest.raises(AttributeError, match=r"measures of .ir.exposure\(history=train\)"):
        _ = RUN.ir.gini


@pytest.mark.parametrize("name", ["Novelty@2", "rectools MeanInvUserFreq@2", "Seen"])
def test_exposure_names_evaluate_for_a_measure_of_lists(name):
    with pytest.raises(ir.IRError, match="has a value for each query: use evaluate for it") as error:
        RUN.ir.exposure(name, history=HISTORY)
    code = str(error.value).partition("Call it: ")[2].removesuffix(".")
    assert eval(code, {"run": RUN, "train": HISTORY}).height == 4  # noqa: S307  # code of ours
