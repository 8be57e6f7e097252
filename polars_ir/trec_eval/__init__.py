"""What trec_eval 10 computes and prints, to the byte.

Conventions: measures come in trec_eval's order, in whatever order they were asked for, and topics by their ids. Where
trec_eval 10 does not compute what it says, the output is right; `--strict` gives trec_eval's figure (`quirks`). What it
prints of its computations with `-D` is not here.
"""
