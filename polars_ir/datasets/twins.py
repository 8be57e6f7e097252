"""`twins`: documents with the same or nearly the same text under several ids."""

from __future__ import annotations

from typing import Any

from polars_ir.engine.shingles import twins_of
from polars_ir.errors import warn
from polars_ir.extras import lacks
from polars_ir.frames.documents import documents_of
from polars_ir.frames.kinds import give_back
from polars_ir.language.options import Value, check, is_number, public


@public()
def twins(documents: Any, *, similarity: float = 0.8) -> Any:
    """Documents with the same or nearly the same text under several ids, in groups: a row per such document.

    Texts are the same if they differ only in case, punctuation, white space and the form of characters (NFKC); so
    are "-5 °C" and "5 °C". Titles are not read: join them to the texts where they matter. The similarity of others is
    the number of distinct shingles (three words in a row) that both have, out of those that
    either has. MinHash finds candidates, with a chance of 99.5 % or more for a pair that is as similar as wanted, and
    all their shingles are compared: no pair is wrong, and a few may be missed. Of more than 64 candidates that share a
    band each is compared with two others. The same text is always found.

    Parameters
    ----------
    documents
        A table with a column of ids (`doc_id`, `docid`, `_id`, ...) and one of texts (`text`, `contents`, ...), or a
        dict from ids to texts. A LazyFrame is collected.
    similarity
        The least similarity of two documents, 0.3 to 1; 1 is the same text. Below 1 it needs the extra `twins` (rensa),
        without which only the same text is found, as a warning says.

    Returns
    -------
    The kind of documents
        `group` (Int64: documents that are connected by pairs, the one with the lowest id first), the column of ids,
        `twin_id` (the most similar other document, of several the lowest id) and `similarity` (Float64, 1 for the same
        text), sorted by group and id.

    Raises
    ------
    IRError
        For documents without ids or texts, with an id that is null or there twice.

    References
    ----------
    Broder 1997, https://doi.org/10.1109/SEQUEN.1997.666900

    Examples
    --------
    >>> import polars_ir as ir
    >>> documents = {"a": "To be, or not to be", "b": "That is the question", "c": "to be or not to be!"}
    >>> ir.twins(documents, similarity=1).rows()
    [(1, 'a', 'c', 1.0), (1, 'c', 'a', 1.0)]
    """
    allowed = Value("from 0.3 to 1", lambda given: is_number(given) and 0.3 <= given <= 1, float)
    similarity = check("similarity", similarity, allowed)
    rows, name = documents_of(documents)
    near = similarity < 1
    if near and (needed := lacks("twins")):
        warn(f"only documents of the same text are found: others need {needed}.")
        near = False
    return give_back(twins_of(rows, similarity, near=near).rename({"doc_id": name}), documents)
