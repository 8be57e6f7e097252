"""Texts compared by their words: the same text, nearly the same, and one within another.

Conventions: texts are compared after Unicode compatibility composition (NFKC), case folding, and the removal of
invisible characters, punctuation and surplus blanks; a text of which nothing is left is like no other. A shingle is
`WORDS` words in a row, or a shorter text whole; signs of scripts without blanks are words. The similarity of two texts
is the number of distinct shingles that both have, out of those that either has.
"""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

#: The words of a shingle.
WORDS = 3

#: Documents that are looked at together, and pairs of them.
SLICE, PAIRS = 20_000, 100_000

#: Documents that hold a text shorter than a shingle, above which it is no sign of a leak; hits that are shown together.
MANY, EXCERPTS = 100, 10_000

#: Values of a MinHash, and the least chance that a pair of the wanted similarity becomes a candidate.
HASHES, FOUND = 128, 0.995

#: The most members of a band that are all compared with each other; of more, each with the first and with the next.
ALL_PAIRS = 64

#: A word: a sign of a script without blanks, or what stands between blanks.
_ALONE = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
WORD = rf"[{_ALONE}]|[^\s{_ALONE}]+"


def normalised(text: pl.Expr) -> pl.Expr:
    """A text normalised for comparison; null where nothing is left.

    >>> pl.select(normalised(pl.lit("  What's a\u00a0STRA\u00dfe?"))).item()
    'what s a strasse'
    """
    # Polars has no case folding; lower case of upper case folds the same letters, and `ß` with `ss`.
    folded = text.str.normalize("NFKC").str.to_uppercase().str.to_lowercase().str.normalize("NFKC")
    words = folded.str.replace_all(r"\p{Cf}+", "").str.replace_all(r"[\p{P}\s]+", " ").str.strip_chars()
    return pl.when(words != "").then(words)


def shingles(rows: pl.DataFrame, length: int = WORDS) -> pl.DataFrame:
    """The hashes of the shingles of texts: `row`, `place` (the number of words before it) and `shingle`.

    >>> shingles(pl.DataFrame({"row": [7], "text": ["To be, or not!"]}))["place"].to_list()
    [0, 1]
    """
    return _shingled(_words(rows), length)


def _words(rows: pl.DataFrame) -> pl.DataFrame:
    """A row for each word of texts, in their order."""
    words = rows.select("row", word=normalised(pl.col("text")).str.extract_all(WORD))
    return words.filter(pl.col("word").list.len() > 0).explode("word", empty_as_null=True)


def _shingled(words: pl.DataFrame, length: int) -> pl.DataFrame:
    """The shingles of texts in words."""
    size, last = pl.len().over("row"), pl.col("row").shift(1 - length)
    several = pl.concat_str([pl.col("word").shift(-at) for at in range(length)], separator=" ")
    whole = pl.col("word").str.join(" ").over("row")
    place = pl.int_range(pl.len(), dtype=pl.Int64).over("row")
    short = size < length
    hashed = pl.when(short).then(whole).otherwise(several).hash()
    kept = pl.when(short).then(pl.col("place") == 0).otherwise(pl.col("follows"))
    made = words.with_columns(
        place=place, follows=(last == pl.col("row")).fill_null(value=False), shingle=hashed, short=short
    )
    return made.filter(kept).select("row", "place", "shingle")


def _slices(documents: pl.DataFrame) -> Iterator[pl.DataFrame]:
    return documents.with_row_index("row").select("row", "text").iter_slices(SLICE)


def twins_of(documents: pl.DataFrame, similarity: float, *, near: bool) -> pl.DataFrame:
    """`group`, `doc_id`, `twin_id` and `similarity` of documents with the same or, `near`, a similar text.

    `documents` are `doc_id` and `text`.
    """
    documents = documents.sort("doc_id")
    first, pairs = _alike(documents, similarity, near=near)
    label = _components(pairs)
    texts = first.join(label, left_on="first", right_on="row", how="left")
    texts = texts.with_columns(group=pl.coalesce("label", "first"))
    texts = texts.filter(pl.len().over("group") > 1).sort("row")
    best = pl.concat([pairs, pairs.select(row="twin", twin="row", similarity="similarity")])
    best = best.sort("row", "similarity", "twin", descending=[False, True, False]).unique("row", keep="first")
    texts = texts.join(best, left_on="first", right_on="row", how="left", maintain_order="left")
    same = pl.len().over("first") > 1
    second = pl.col("row").filter(pl.col("row") > pl.col("first")).min().over("first")
    of_same = pl.when(pl.col("row") == pl.col("first")).then(second).otherwise("first")
    texts = texts.with_columns(
        twin=pl.when(same).then(of_same).otherwise("twin"), similarity=pl.when(same).then(1.0).otherwise("similarity")
    )
    ids = documents["doc_id"]
    return texts.select(
        pl.col("group").rank("dense").cast(pl.Int64),
        ids.gather(texts["row"]).alias("doc_id"),
        ids.gather(texts["twin"]).alias("twin_id"),
        "similarity",
    ).sort("group", "doc_id")


def direct_twins(documents: pl.DataFrame, similarity: float, *, near: bool) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The text of each document, a number (`doc_id`, `text`), and the pairs of texts that are alike (`text`, `twin`).

    A text is paired with itself, too; of pairs along a chain its ends are none.
    """
    documents = documents.sort("doc_id")
    first, pairs = _alike(documents, similarity, near=near)
    texts = first.select(documents["doc_id"].gather(first["row"]).alias("doc_id"), text="first")
    itself = first.select(text="first", twin="first").unique()
    return texts, pl.concat([itself, pairs.select(text="row", twin="twin"), pairs.select(text="twin", twin="row")])


def _alike(documents: pl.DataFrame, similarity: float, *, near: bool) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Each row with a text and the first of the same text, and pairs of first rows whose texts are alike."""
    keys, bands = [], []
    for part in _slices(documents):
        keys.append(
            part.select("row", key=normalised(pl.col("text")).hash(), there=normalised(pl.col("text")).is_not_null())
        )
        if near:
            bands.append(_bands(part, similarity))
    known = (
        pl.concat(keys).filter("there").drop("there")
        if keys
        else pl.DataFrame(schema={"row": pl.UInt32, "key": pl.UInt64})
    )
    first = _same(documents, known)
    return first, _near(documents, pl.concat(bands), first, similarity) if bands else _no_pairs()


def _no_pairs() -> pl.DataFrame:
    return pl.DataFrame(schema={"row": pl.UInt32, "twin": pl.UInt32, "similarity": pl.Float64})


def _same(documents: pl.DataFrame, keys: pl.DataFrame) -> pl.DataFrame:
    """Each row with a text, and the first row of the same text, which equal hashes alone do not show."""
    alike = keys.filter(pl.col("key").is_duplicated())
    texts = alike.select("row", text=documents["text"].gather(alike["row"])).with_columns(normalised(pl.col("text")))
    first = texts.select("row", first=pl.col("row").min().over("text"))
    return keys.join(first, on="row", how="left").select("row", first=pl.coalesce("first", "row"))


def _shape(similarity: float) -> tuple[int, int]:
    """The number of bands, and of values in each: as long as a pair of the wanted similarity is all but always found.

    >>> _shape(0.8)
    (21, 6)
    """
    for size in range(HASHES, 1, -1):
        if 1 - (1 - similarity**size) ** (HASHES // size) >= FOUND:
            return HASHES // size, size
    return HASHES, 1


def _bands(part: pl.DataFrame, similarity: float) -> pl.DataFrame:
    """The hash of each band of the MinHash of each text."""
    import numpy as np
    from rensa import RMinHash

    found = shingles(part).sort("row", "place")
    sizes = found.group_by("row", maintain_order=True).len()
    offsets = np.concatenate([[0], sizes["len"].cum_sum().to_numpy()]).astype(np.uint64)
    matrix = RMinHash.digest_matrix_from_flat_token_hashes(found["shingle"].to_numpy(), offsets, HASHES, 1)
    values = np.array(matrix.to_rows(), dtype=np.uint64).reshape(sizes.height, HASHES)
    n_bands, size = _shape(similarity)
    hashes = {
        f"{band}": pl.DataFrame(values[:, band * size : (band + 1) * size]).hash_rows() for band in range(n_bands)
    }
    return sizes.select("row").with_columns(**hashes)


def _near(documents: pl.DataFrame, bands: pl.DataFrame, first: pl.DataFrame, similarity: float) -> pl.DataFrame:
    """Pairs of different texts that are as similar as wanted: those that share a band, compared by all shingles."""
    bands = bands.join(first.filter(pl.col("row") == pl.col("first")), on="row", how="semi").sort("row")
    candidates = [_no_pairs().select("row", "twin")]
    for band in bands.columns[1:]:
        members = bands.select("row", key=band).filter(pl.col("key").is_duplicated())
        few = members.filter(pl.len().over("key") <= ALL_PAIRS)
        pairs = few.join(few, on="key").filter(pl.col("row") < pl.col("row_right"))
        candidates.append(pairs.select("row", twin="row_right"))
        many = members.join(few, on="key", how="anti").sort("key", "row")
        for other in (pl.col("row").min(), pl.col("row").shift(1)):
            row = many.select(other.over("key").alias("row"), twin="row").drop_nulls()
            candidates.append(row.filter(pl.col("row") < pl.col("twin")))
    parts = pl.concat(candidates).unique().sort("row", "twin").iter_slices(PAIRS)
    found = (_compared(documents, part).filter(pl.col("similarity") >= similarity) for part in parts)
    return pl.concat([_no_pairs(), *found])


def _compared(documents: pl.DataFrame, pairs: pl.DataFrame) -> pl.DataFrame:
    """The exact similarity of pairs."""
    rows = pl.concat([pairs["row"], pairs["twin"]]).unique().sort()
    texts = pl.DataFrame({"row": rows, "text": documents["text"].gather(rows)})
    sets = shingles(texts).group_by("row").agg(pl.col("shingle").unique())
    both = pairs.join(sets, on="row").join(sets, left_on="twin", right_on="row", suffix="_of_twin")
    shared = pl.col("shingle").list.set_intersection("shingle_of_twin").list.len().cast(pl.Int64)
    either = pl.col("shingle").list.len().cast(pl.Int64) + pl.col("shingle_of_twin").list.len() - shared
    return both.select("row", "twin", similarity=shared / either)


def _components(pairs: pl.DataFrame) -> pl.DataFrame:
    """The lowest row that each row is connected with by pairs."""
    edges = pl.concat([pairs.select("row", "twin"), pairs.select(row="twin", twin="row")])
    labels = edges.select("row", label="row").unique().sort("row")
    while True:
        near = edges.join(labels, left_on="twin", right_on="row").group_by("row").agg(near=pl.col("label").min())
        lower = labels.join(near, on="row").select("row", label=pl.min_horizontal("label", "near"))
        # The label of the label: chains are followed in a logarithm of their length.
        lower = (
            lower.join(lower.select(label="row", below="label"), on="label").select("row", label="below").sort("row")
        )
        if lower.equals(labels):
            return labels
        labels = lower


def contained_in(texts: pl.DataFrame, documents: pl.DataFrame, least: float) -> tuple[pl.DataFrame, list[str]]:
    """Texts (`text_row`, `text`) that documents hold: `text_row`, `doc_row`, `share`, `place` and `excerpt`.

    The share is that of the text's distinct shingles that are in line at the place, at least `least`; of a text with
    fewer words all words in a row. Such a text that more than `MANY` documents hold is left out, and returned.
    """
    asked = texts.select("text_row", text=normalised(pl.col("text"))).drop_nulls()
    # Each text once, whoever asks for it.
    asked = asked.with_columns(asked=pl.col("text").rank("dense"))
    distinct = asked.select("asked", "text").unique().sort("asked")
    distinct = distinct.with_columns(n_words=pl.col("text").str.extract_all(WORD).list.len())
    short = pl.col("n_words") < WORDS
    wanted = {length: _wanted(distinct, length) for length in range(1, WORDS + 1)}
    hits = [pl.DataFrame(schema={"asked": pl.UInt32, "row": pl.UInt32, "share": pl.Float64, "place": pl.Int64})]
    for part in _slices(documents):
        words = _words(part)
        for length, of_length in wanted.items():
            if of_length.height:
                hits.append(_lined_up(_shingled(words, length), of_length, least))
    found = pl.concat(hits, how="vertical_relaxed").join(distinct, on="asked")
    is_common = short & (pl.len().over("asked") > MANY)
    common = found.filter(is_common)["text"].unique().sort().to_list()
    held = [_with_excerpts(part, documents) for part in found.filter(~is_common).iter_slices(EXCERPTS)]
    schema = {"asked": pl.UInt32, "doc_row": pl.UInt32, "share": pl.Float64, "place": pl.Int64, "excerpt": pl.String}
    rows = pl.concat([pl.DataFrame(schema=schema), *held], how="vertical_relaxed")
    rows = rows.join(asked.select("asked", "text_row"), on="asked")
    return rows.select("text_row", "doc_row", "share", "place", "excerpt"), common


def _wanted(distinct: pl.DataFrame, length: int) -> pl.DataFrame:
    """The shingles of the texts that are compared by a length, with the places and the number of distinct ones."""
    rows = distinct.filter(pl.col("n_words").clip(0, WORDS) == length).select(row="asked", text="text")
    found = shingles(rows, length).select(asked="row", at="place", shingle="shingle")
    return found.with_columns(n=pl.col("shingle").n_unique().over("asked"))


def _lined_up(found: pl.DataFrame, wanted: pl.DataFrame, least: float) -> pl.DataFrame:
    """Texts that documents hold, each at the first place with the most of its shingles in line."""
    pairs = found.join(wanted, on="shingle").with_columns(place=pl.col("place") - pl.col("at"))
    lines = pairs.group_by("asked", "row", "n", "place").agg(pl.col("shingle").n_unique())
    lines = lines.with_columns(share=pl.col("shingle") / pl.col("n")).filter(pl.col("share") >= least)
    best = lines.sort("asked", "row", "share", "place", descending=[False, False, True, False])
    best = best.unique(["asked", "row"], keep="first", maintain_order=True)
    return best.select("asked", "row", "share", pl.col("place").clip(0))


def _with_excerpts(found: pl.DataFrame, documents: pl.DataFrame) -> pl.DataFrame:
    """Texts with the words that documents have in their place."""
    rows = found["row"].unique().sort()
    words = normalised(pl.col("text")).str.extract_all(WORD)
    texts = pl.DataFrame({"row": rows, "text": documents["text"].gather(rows)}).select("row", words=words)
    excerpt = pl.col("words").list.slice("place", "n_words").list.join(" ")
    return found.join(texts, on="row").select(
        "asked", pl.col("row").alias("doc_row"), "share", "place", excerpt.alias("excerpt")
    )
