"""What trec_eval 10 computes and prints, to the byte.

Conventions: measures come in trec_eval's order, in whatever order they were asked for, and topics by their ids. Where
trec_eval 10 is wrong the output is right; `--strict` gives its own figure of `rbp_resid`, which leaves out the weight
beyond a list that is wholly judged, and its end with status 4 at a judged topic that the run lacks (unless `-c`).
Its `-Z` (scores as z-scores) and `-D` (debugging) are not here.
"""
