"""Random collections evaluated twice: by the package, and by a slow reference in plain Python.

`generator` makes a `Case` of a seed and a number, `poisoning` one with rows that an error is wanted for, `tables` hands
its rows over as a user would, `thresholds` decides which plan is taken, `reference/` computes the same from the
definitions, `comparison` puts the two side by side, and `shrinking` makes a failing case small. `forms` gives
a call the same rows in other forms. `planted` has bugs that the cases must find. `python -m tests.differential --cases
20000 --seed 7` runs as many as wanted.
"""
