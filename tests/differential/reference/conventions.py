"""Conventions of the package, each in one place."""


def id_order(document: str | int) -> str:
    """The key that orders documents of equal scores, falling: their ids as text, bytewise."""
    return str(document)
