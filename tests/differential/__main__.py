"""Compare the package with the slow reference on random collections.

What they disagree on is made small and printed as Python. Environment variables of Polars, such as POLARS_MAX_THREADS,
hold as everywhere.
"""

import argparse
import sys

from . import comparison, forms, generator, shrinking


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.differential", description=__doc__)
    parser.add_argument("--cases", type=int, default=2000, help="how many random collections (%(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="what they are made of (%(default)s)")
    parser.add_argument("--first", type=int, default=0, help="the number of the first one (%(default)s)")
    parser.add_argument(
        "--digest", action="store_true", help="only print a digest of all figures, to compare processes"
    )
    given = parser.parse_args()
    numbers = range(given.first, given.first + given.cases)
    if given.digest:
        sys.stdout.write(comparison.digest(generator.case(given.seed, number) for number in numbers) + "\n")
        return 0
    failed = 0
    for number in numbers:
        if found := shrinking.report(given.seed, number):
            failed += 1
            sys.stdout.write(found + "\n\n")
        for line in forms.differences(given.seed, number):
            failed += 1
            sys.stdout.write(line + "\n\n")
        if (number + 1) % 1000 == 0:
            sys.stderr.write(f"{number + 1 - given.first} of {given.cases} cases, {failed} failed\n")
    sys.stdout.write(f"{given.cases} cases of seed {given.seed}, {failed} failed\n")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
