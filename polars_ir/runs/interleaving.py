"""Team-draft interleaving: two rankings shown as one list, and the preference that its clicks express.

Conventions: the two systems are the teams `a` and `b`. The team that picks first in a round is decided by the seed, the
impression, the round and the position of the query among all queries, and so does not depend on the order of rows.
"""

from __future__ import annotations

import hashlib
from typing import Any

import polars as pl

from polars_ir.errors import Code, ColumnError, DataError, DtypeError, Fix, OptionError, nearest, quoted, with_names
from polars_ir.frames.canonical_frame import CanonicalFrame
from polars_ir.frames.kinds import Frame, give_back, to_polars
from polars_ir.frames.roles import find, note_of_structure, required
from polars_ir.frames.rules import Rule, checked, guard
from polars_ir.frames.table import same_types
from polars_ir.frames.table_types import FrameT, Table
from polars_ir.language.options import LARGEST, Value, check, column, is_whole, or_none, public, whole
from polars_ir.language.words import ROUNDED_TO
from polars_ir.runs.rankings import checked_run, ranked, returned

#: Each pick looks at all documents picked before, so that the plan grows with the square of the length.
MOST_PLACES = 50

IMPRESSION: Value[Any] = Value(
    "a text or a whole number of 64 bits", lambda id_: isinstance(id_, str) or is_whole(id_, -(2**63), 2**63 - 1)
)


@public()
def interleave(
    run_a: Table[FrameT], run_b: Any, *, k: int = 10, seed: int = 0, impression: str | int | None = None
) -> FrameT:
    """Two runs as one by team draft: in each round both teams pick their best document that is not yet in the list.

    Which team picks first is decided by chance, anew in each round. When a team has no document left, the other picks
    alone. Queries that only one run answered are left out.

    Parameters
    ----------
    k
        The number of documents to show a query, at most 50.
    seed
        The seed that decides who picks first.
    impression
        The id of the impression, which draws anew. Without it a query has the same list however often it is shown, and
        the same team is lucky each time.

    Returns
    -------
    The kind of run_a (a LazyFrame for a LazyFrame, pandas for pandas)
        The query column, `doc_id`, `score` (Int64, k at the first place and falling by 1), `rank` (Int64) and `team`
        (String, `"a"` or `"b"`: whose pick it is), and `impression` if it has an id, sorted by query and rank. With
        clicks in a column it is the log that `interleaving` reads, impressions below each other.

    References
    ----------
    Radlinski, Kurup & Joachims 2008, https://doi.org/10.1145/1458082.1458092

    Examples
    --------
    >>> import polars_ir as ir
    >>> shown = ir.interleave({"q": ["x", "y", "z"]}, {"q": ["x", "w"]}, k=3)
    >>> sorted(shown.columns), shown["doc_id"][0], shown.height
    (['doc_id', 'query_id', 'rank', 'score', 'team'], 'x', 3)
    """
    k, seed = check("k", k, whole(1, MOST_PLACES)), check("seed", seed, whole(0))
    check("impression", impression, or_none(IMPRESSION))
    table, second = checked_run(run_a, run="run_a"), checked_run(run_b, run="run_b")
    for name, of_one in (("run_a", table), ("run_b", second)):
        if "run" in of_one.dtypes:
            raise ColumnError(f"must be of one system; it has a column {of_one.names['run']!r}.", about=name)
    with with_names(run="run_a", qrels="run_b"):
        table, second = same_types(table, second)
    lists = _lists(table, "a", k).join(_lists(second, "b", k), on="query_id")
    drawn = hashlib.blake2b(str(impression).encode(), digest_size=8).digest() if impression is not None else b""
    # A number for seed and impression in each throw of a coin.
    salt = seed * 0x9E3779B97F4A7C15 + int.from_bytes(drawn)
    drafted = _drafted(lists, k, salt).with_columns(rank=pl.int_ranges(1, k + 1))
    picks = drafted.explode("doc_id", "team", "rank").drop_nulls("doc_id")
    picks = picks.select("query_id", "doc_id", score=k + 1 - pl.col("rank"), rank="rank", team="team")
    picks = picks if impression is None else picks.with_columns(impression=pl.lit(impression))
    return returned(picks.sort("query_id", "rank"), table, run_a)


@public()
def interleaving(
    log: Table[FrameT], *, clicks: str = "clicks", impression: str | None = None, cluster: str | None = None
) -> FrameT:
    """The preference of users between two interleaved systems: the credit of the teams, with an exact test.

    A click is credited to the team whose pick was clicked; an impression is won by the team with more clicks. The
    preference is the share of wins, ties counting half. Impressions of one query are not independent: they share the
    team that picked first and the taste of the query's users. So a query is won by the team that won more of its
    impressions, and p is the exact two-sided binomial test of the queries won against those lost; with `cluster`, of
    the clusters.

    Parameters
    ----------
    log
        A row per shown document: the result of `interleave`, with the clicks on each; every impression by itself.
    clicks
        The column of clicks: numbers or Booleans.
    impression
        The column that distinguishes impressions, where one query was shown several times; by default `impression`,
        as `interleave` writes it, where the log has it, else the query. In a log without a query column each impression
        counts as a query.
    cluster
        The column of the log with what counts once in the place of the query, such as its topic, or the user; an
        impression has one.

    Returns
    -------
    The kind of the log
        One row: `wins_a`, `wins_b`, `ties` (impressions, UInt32; without a click it is a tie), `clicks_a`, `clicks_b`
        (Float64), `preference_b` (Float64, the share of wins of `b`, ties counting half: above 0.5 it is preferred),
        `queries_a`, `queries_b` (UInt32, queries or clusters won), `low`, `high` (Float64, the exact 95 % interval of
        b's share of the queries that either won; null without one), `p` (Float64; 1 without a query won) and `note`
        (String): that clusters are counted, or that ids or a column `topic` look as if there were some; else null.

    Raises
    ------
    IRError
        For a log without the columns, teams other than `a` and `b`, clicks that are null, negative or not finite,
        impressions that are null or in several clusters, and clusters that are all one.

    References
    ----------
    Chapelle, Joachims, Radlinski & Yue 2012, https://doi.org/10.1145/2094072.2094078

    Examples
    --------
    >>> import polars as pl, polars_ir as ir
    >>> log = pl.DataFrame({"query_id": [1, 1, 2, 2, 3, 3], "team": ["a", "b"] * 3, "clicks": [0, 1, 0, 2, 1, 1]})
    >>> ir.interleaving(log).select("wins_a", "wins_b", "ties", "p").row(0)
    (0, 2, 1, 0.5)
    """
    from polars_ir.statistics.significance import binomial

    frame = to_polars("log", log, column="clicks")
    columns = frame.collect_schema().names()
    if impression is None:
        impression = "impression" if "impression" in columns else "query_id"
    check("clicks", clicks, column("the log"))
    check("impression", impression, column("the log"))
    _check_log(frame, clicks, impression, cluster)
    query = find("log", "query_id", columns) or impression
    shown = query if impression == "query_id" else impression
    team, clicked = pl.col("team").cast(pl.String), pl.col(clicks).cast(pl.Float64)
    wrong = clicked.is_null() | ~clicked.is_between(0, LARGEST)
    rules = [Rule(wrong, f"whose {clicks!r} is null, negative or not finite", "Leave them out")]
    if shown != query:
        rules.append(Rule(pl.col(shown).is_null(), f"whose {shown!r} is null", "Leave them out"))
    if cluster is not None:
        rules.append(Rule(pl.col(cluster).is_null(), f"whose {cluster!r} is null", "Leave them out"))
        several = pl.col(cluster).n_unique().over(query, shown) > 1
        rules.append(Rule(several, "of impressions in several clusters", "An impression must be in one cluster"))
    counted = cluster or query
    needed = frame.lazy().select({query, shown, counted, "team", clicks}).collect(engine="in-memory")
    rows = checked(needed, *rules, about="log", keys=[query], names={}).lazy()
    of_teams = rows.group_by({query, shown, counted}).agg(
        clicked.filter(team == each).sum().alias(each) for each in "ab"
    )
    if cluster is not None and len(values := rows.select(pl.col(cluster).unique()).collect()[cluster]) == 1:
        says = f"must have two values or more; {cluster!r} is {values[0]!r} for all queries."
        raise DataError(says, about="cluster", fix="Leave it out, or take a column that distinguishes queries")
    lead = pl.col("b") - pl.col("a")
    # Sums of credits in another order differ in their last bits.
    is_lead = lead.abs() > ROUNDED_TO * pl.max_horizontal("a", "b")
    impressions = of_teams.with_columns(lead=pl.when(is_lead).then(lead.sign()).otherwise(0.0))
    lead = pl.col("lead")
    won = {"a": (lead < 0).sum().cast(pl.UInt32), "b": (lead > 0).sum().cast(pl.UInt32)}
    ties = (lead == 0).sum().cast(pl.UInt32)
    clicks_of = {f"clicks_{each}": pl.col(each).sum() for each in "ab"}
    counts = impressions.select(wins_a=won["a"], wins_b=won["b"], ties=ties, **clicks_of)
    queries = impressions.group_by(counted).agg(lead.sum()).select(queries_a=won["a"], queries_b=won["b"])
    found, queries_won = pl.collect_all([counts, queries])
    wins_a, wins_b, n_ties = found.select("wins_a", "wins_b", "ties").row(0)
    queries_a, queries_b = queries_won.row(0)
    share = (wins_b + n_ties / 2) / max(wins_a + wins_b + n_ties, 1)
    p, (low, high) = binomial(queries_b, queries_a + queries_b)
    ends = (pl.lit(value, pl.Float64).alias(name) for name, value in (("low", low), ("high", high), ("p", p)))
    if cluster is None:
        note = note_of_structure(set(columns) - {query}, rows.select(pl.col(query).alias("query_id")))
    else:
        note = f"queries are clusters of {cluster!r}"
    said = pl.lit(note, pl.String).alias("note")
    return give_back(found.with_columns(pl.lit(share).alias("preference_b"), *queries_won, *ends, said), log)


def _lists(run: CanonicalFrame, team: str, k: int) -> pl.LazyFrame:
    """The first documents of each query in a list; no team looks deeper than the length of the list."""
    first = ranked(run, depth=k)
    lists = first.group_by("query_id").agg(pl.col("doc_id").sort_by("rank").alias(team))
    return guard(lists, pl.col(team).list.n_unique() < pl.col(team).list.len(), run.repeated)


def _drafted(lists: pl.LazyFrame, k: int, salt: int) -> pl.LazyFrame:
    """Picks of each query and their teams, in lists of k; null where nothing was left to pick."""
    lists = lists.with_columns(number=pl.col("query_id").rank("dense").cast(pl.UInt64))
    picks: list[str] = []
    for place in range(k):
        turn = _coin(salt, place // 2) if place % 2 == 0 else pl.col(f"turn_{place - 1}").not_()
        lists = lists.with_columns(turn.alias(f"turn_{place}")).with_columns(
            _best_left(team, picks, place).alias(f"best_{team}") for team in "ab"
        )
        of_a = pl.col("best_b").is_null() | (pl.col("best_a").is_not_null() & pl.col(f"turn_{place}"))
        lists = lists.with_columns(of_a.alias(f"of_a_{place}")).with_columns(
            pl.when(f"of_a_{place}").then("best_a").otherwise("best_b").alias(f"pick_{place}")
        )
        picks.append(f"pick_{place}")
    teams = [pl.when(f"of_a_{place}").then(pl.lit("a")).otherwise(pl.lit("b")) for place in range(k)]
    return lists.select("query_id", doc_id=pl.concat_list(picks), team=pl.concat_list(teams))


def _best_left(team: str, picks: list[str], place: int) -> pl.Expr:
    """The first document of a team's list that neither team has picked."""
    documents = [pl.col(team).list.get(i, null_on_oob=True) for i in range(place + 1)]
    if not picks:
        return documents[0]
    picked = pl.concat_list(picks)
    return pl.coalesce(pl.when(~picked.list.contains(document)).then(document) for document in documents)


def _coin(salt: int, turn: int) -> pl.Expr:
    """Heads or tails of a query in a round: the finalizer of MurmurHash3, whose highest bit is as good as chance."""
    number = pl.col("number") ^ pl.lit((salt + turn * 0xD1B54A32D192ED03 + 1) % 2**64, pl.UInt64)
    for factor in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
        number = (number ^ (number // 2**33)) * pl.lit(factor, pl.UInt64)
    return number // 2**63 == 1


def _check_log(frame: Frame, clicks: str, impression: str, cluster: str | None) -> None:
    """Raise an error for a log that lacks a column, or has other teams."""
    schema = frame.collect_schema()
    if not isinstance(cluster, str | None):
        fix = Fix("Join it first", Code("log.join(cluster, on='query_id')", "log.merge(cluster, on='query_id')"))
        raise OptionError(f"must name a column of the log; got a {type(cluster).__name__}.", about="cluster", fix=fix)
    needed = ["team", clicks, *([] if impression == "query_id" else [impression]), *([cluster] if cluster else [])]
    for name in needed:
        if name not in schema:
            near = nearest(name, schema.names())
            raise ColumnError(f"has no column {name!r}; it has {quoted(schema.names())}.", about="log", near=near)
    if impression == "query_id":
        required("log", "query_id", schema.names())
    if not (schema[clicks].is_numeric() or schema[clicks] == pl.Boolean):
        raise DtypeError.of_column("log", clicks, "numbers or Booleans", schema[clicks], "Cast it")
    teams = frame.lazy().select(pl.col("team").cast(pl.String).unique()).collect()["team"].to_list()
    if not set(teams) <= {"a", "b"}:
        others = quoted(sorted(map(str, set(teams) - {"a", "b"})))
        raise ColumnError(f"must have the teams 'a' and 'b'; its column 'team' has {others}.", about="log")
