"""The amount that is tried: all of it with `pytest --whole`, a tenth of the made-up data with `pytest`."""

from typing import Any

from hypothesis import HealthCheck, settings

#: The same examples on every machine and in every run, however slow it is.
settings.register_profile(
    "whole",
    max_examples=100,
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.register_profile("quick", settings.get_profile("whole"), max_examples=10)
#: The whole suite a second time, on other versions: `pytest --whole --hypothesis-profile=few`.
settings.register_profile("few", settings.get_profile("whole"), max_examples=20)


def is_whole() -> bool:
    """True in the whole suite and in a script."""
    return settings().max_examples > settings.get_profile("quick").max_examples


def share(whole: int, quick: int | None = None) -> int:
    """So many in the whole suite; in the quick one fewer: a tenth, but at least five, if it is not said how many."""
    return whole if is_whole() else min(whole, max(5, whole // 10) if quick is None else quick)


def examples(whole: int, **others: Any) -> settings:
    """Settings for as many examples of so many as the profile has of a hundred, but at least five."""
    return settings(max_examples=min(whole, max(5, whole * settings().max_examples // 100)), **others)
