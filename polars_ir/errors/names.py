"""Names and texts in a message: the known ones, the nearest to another, and the characters that are safe to show."""

from __future__ import annotations

import difflib
import functools
import re
from collections.abc import Iterable

#: Most characters of a message, and of a file's path in it.
LONGEST, LONGEST_PATH = 4000, 400

#: The component of a URL before its host: a user, and a password or a token.
_USER = re.compile(r"(?<=://)[^/\s'\"]*@")

#: A parameter of a URL, up to its value; those of signed URLs are all that it takes to read the file.
_PARAMETER = re.compile(r"([?&#;][^=?&#;\s'\"]+=)[^&#\s'\"]*?(?=[:.,;)]*(?:[&#\s'\"]|$))")


#: Characters that move the cursor of a terminal, hide text or reverse it; line ends and tabs do not.
_UNSEEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


@functools.lru_cache(maxsize=1024)
def fold(name: str) -> str:
    """A name without case, `-`, `_` and blanks.

    >>> fold("n-DCG"), fold("hit_rate")
    ('ndcg', 'hitrate')
    """
    return re.sub(r"[-_\s]", "", name.casefold())


def printable(text: str) -> str:
    """A text whose control characters are escaped as in JSON, `\u001b`."""
    return _UNSEEN.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def shown(text: str, longest: int = LONGEST) -> str:
    """A text as part of a message, or a message; a long one without its middle."""
    if len(text) > longest:
        half = longest // 2
        text = f"{text[:half]} [... {len(text) - 2 * half} characters ...] {text[-half:]}"
    if "://" in text:
        text = _PARAMETER.sub(r"\1***", _USER.sub("***@", text))
    # Unpaired surrogates, which neither a file nor a terminal takes.
    return printable(text.encode(errors="backslashreplace").decode())


#: Names that neither a column of the user's nor a measure has: patterns of Polars, and those of columns that plans make
#: for a while; and the end of a message about one.
TAKEN = re.compile(r"\*|\^.*\$|polars_ir:.*", re.DOTALL)
OF_PLANS = "'*', '^...$' and what begins with 'polars_ir:' have a meaning in plans"

#: Most names that a message lists; the number of others follows.
LISTED = 30


def nearest(name: str, names: Iterable[str]) -> str:
    """` Did you mean ...?` with the names closest to `name`, or nothing: those it abbreviates, or else those alike.

    >>> nearest("HR", ["R", "hit_rate"]), nearest("ndgc", ["ndcg", "P"]), nearest("q", ["P"])
    (" Did you mean 'hit_rate'?", " Did you mean 'ndcg'?", '')
    """
    return did_you_mean(alike(name, names))


#: Words for what a function does, by the functions: the names of statistics, of other libraries and of plain speech.
INTENTS = {
    "worst regressions regressed losers failures": "hardest diff",
    "winners wins improvements": "diff",
    "to_latex to_html to_excel to_markdown latex": "table report",
    "ttest t_test wilcoxon significance significant p_value pvalue anova bootstrap": "compare",
    "kendall kendalltau tau spearman pearson correlation corr": "rank_correlation",
    "cohen_kappa cohen_kappa_score kappa fleiss_kappa krippendorff krippendorff_alpha interrater": "agreement",
    "jury majority_vote dawid_skene": "merge_judgments",
    "describe summary stats ci confidence_interval": "summarize",
    "leaderboard": "table ranks",
    "average avg aggregate agg": "mean summarize",
    "eval score scores compute calculate metrics": "evaluate",
    "read_runs load_run read from_file read_trec read_csv": "read_run",
    "load_qrels": "read_qrels",
    "load": "read_run datasets.load",
    "from_dict from_dicts from_pandas": "of from_lists",
    "save export to_trec to_csv write": "write_run",
    "rrf combine merge ensemble rank_fusion": "fuse",
    "top head first cut truncate": "top_k",
    "rbo jaccard": "similarity",
    "check lint": "validate",
    "train_test_split leave_one_out holdout": "split",
    "sample_size": "power",
    "box boxplot violin hist histogram": "plots.distribution",
    "bar barplot errorbar": "plots.forest",
    "line lineplot timeline": "plots.series",
    "pr_curve": "plots.precision_recall",
}


def intended(name: str) -> list[str]:
    """The functions that do what a name says, as typed after `ir.`; none for an unknown name.

    >>> intended("ttest"), intended("Worst"), intended("ndgc")
    (['compare'], ['hardest', 'diff'], [])
    """
    return next((does.split() for words, does in INTENTS.items() if name.casefold() in words.split()), [])


def did_you_mean(names: Iterable[str]) -> str:
    """` Did you mean ...?` with some names, each once, or nothing where there are none."""
    meant = " or ".join(map(repr, dict.fromkeys(names)))
    return f" Did you mean {meant}?" if meant else ""


def alike(name: str, names: Iterable[str]) -> list[str]:
    """Those of the names that are meant by another, perhaps; at most three."""
    by_fold = {n.casefold(): n for n in names}
    abbreviated = [n for n in by_fold.values() if len(name) > 1 and _initials(n) == name.casefold()][:3]
    return abbreviated or [by_fold[m] for m in difflib.get_close_matches(name.casefold(), by_fold, n=3, cutoff=0.6)]


def _initials(name: str) -> str:
    """The first letters of the words of a name: `hr` of `hit_rate` and of `HitRate`."""
    return "".join(re.findall(r"^[a-z]|(?<=_)[a-z]|[A-Z]", name)).casefold()


def closest(accepted: Iterable[str], names: Iterable[str]) -> str | None:
    """The name that is most like one of the accepted ones, however little; None without any name.

    >>> closest(["score", "sim"], ["title", "bm25_score"])
    'bm25_score'
    """
    wanted = [name.casefold() for name in accepted]

    def likeness(name: str) -> float:
        return max(difflib.SequenceMatcher(None, name.casefold(), one).ratio() for one in wanted)

    return max(names, key=likeness, default=None)


def quoted(names: Iterable[object], most: int = LISTED) -> str:
    """Names in a row, for a message; of very many the first.

    >>> quoted("ab"), quoted("abc", 2)
    ("'a', 'b'", "'a', 'b' and 1 other")
    """
    listed = list(names)
    left_out = len(listed) - most
    others = f" and {left_out:,} other{'s' * (left_out > 1)}" if left_out > 0 else ""
    return ", ".join(map(repr, listed[:most])) + others or "no columns"


def with_keys(keys: Iterable[str], values: Iterable[Iterable[object]]) -> list[str]:
    """Values of some keys as texts, such as `date 2026-11-27, tenant a`."""
    return [", ".join(f"{key} {value!s}" for key, value in zip(keys, each, strict=True)) for each in values]
