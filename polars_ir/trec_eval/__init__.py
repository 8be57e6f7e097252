"""The figures and output of trec_eval 10, to the byte.

Conventions: measures come in trec_eval's order, in whatever order they are named, and topics by their ids. Where
trec_eval 10 does not compute what it says, the output is right; `--strict` gives trec_eval's figure (`quirks`). What it
prints of its computations with `-D` is not here.
"""
