"""Conventions of the package, each in one place."""

#: Whether documents of negative grade, which condensed lists leave out, count as judged in a labelled frame, too.
CONDENSED_LABELS_STAY_JUDGED = False


def id_order(document: str | int) -> str:
    """What documents of equal scores are ordered by, falling: their ids as text, bytewise."""
    return str(document)
