"""Rankings: the documents of a query in every order that the rule for equal scores allows."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, groupby, permutations, product
from typing import NamedTuple

from .conventions import id_order
from .rows import Id, Retrieved


class Document(NamedTuple):
    """A document as measures see it: nobody judged it where `grade` is None.

    `subtopics` has its grade for each subtopic it was judged for, of which `grade` is the highest; `judged_elsewhere`
    is whether it was judged for any query.
    """

    id: Id
    grade: float | None
    score: float | None = None
    subtopics: Mapping[Id, float] = {}
    judged_elsewhere: bool = False
    trust: float | None = None
    price: int | None = None


class Ranking(NamedTuple):
    """The documents retrieved for a query, best first, and the judged documents that were not."""

    retrieved: Sequence[Document]
    missed: Sequence[Document]
    weights: Mapping[Id, float] = {}

    @property
    def judged(self) -> list[Document]:
        """All judged documents, retrieved or not."""
        return [document for document in (*self.retrieved, *self.missed) if document.grade is not None]

    def top(self, k: int | None) -> Sequence[Document]:
        """The first k documents."""
        return self.retrieved if k is None else self.retrieved[:k]


#: The result of judging the unjudged documents: the grade of a document at a rank.
Judging = Callable[[Document, int], float | None]


def in_order(rows: Sequence[Retrieved], *, by_rows: bool) -> list[Retrieved]:
    """Rows with scores falling; equal scores by id falling, or as the rows stand."""
    rows = rows if by_rows else sorted(rows, key=lambda row: id_order(row.document), reverse=True)
    return sorted(rows, key=lambda row: row.score, reverse=True)


def condensed(documents: Sequence[Document]) -> list[Document]:
    """A ranking without the documents that are unjudged or whose grade is negative."""
    return [document for document in documents if document.grade is not None and document.grade >= 0]


def orders(documents: Sequence[Document], ties: str) -> Iterator[list[Document]]:
    """The orders of a ranking by the rule for its ties: all of them where they are expected, else one."""
    tied = [list(of_score) for _, of_score in groupby(documents, key=lambda document: document.score)]
    if ties == "expected":
        yield from (list(chain(*order)) for order in product(*map(permutations, tied)))
    elif ties in ("best", "worst"):
        yield list(chain(*(by_worth(of_score, best=ties == "best") for of_score in tied)))
    else:
        yield list(documents)


def by_worth(documents: Sequence[Document], *, best: bool) -> list[Document]:
    """At best relevant documents first, the highest grade leading, then unjudged ones, then those not relevant.

    At worst it is the other way round.
    """
    by_id = sorted(documents, key=lambda document: id_order(document.id), reverse=True)
    falling = sorted(by_id, key=lambda document: worth(document.grade), reverse=True)
    return falling if best else falling[::-1]


def worth(grade: float | None) -> tuple[int, float]:
    """The place of a grade among those of equal scores."""
    if grade is None:
        return 0, 0.0
    return (1, grade) if grade > 0 else (-1, grade)
