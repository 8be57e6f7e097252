"""Conventions of the package, each in one place."""


def id_order(document: str | int) -> str:
    """What documents of equal scores are ordered by, falling: their ids as text, bytewise."""
    return str(document)
