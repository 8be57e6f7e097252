"""Publication tables: what is bold, what is marked, and that every format says the same."""

import random
import re
import shutil
import subprocess
from html.parser import HTMLParser
from itertools import accumulate

import polars as pl
import pytest
from messages import message_of
from typeset import columns_of, grid_of

import polars_ir as ir
from polars_ir.per_query.compare import compare
from polars_ir.tables.cells import letter
from polars_ir.tables.table import table

great_tables = pytest.importorskip("great_tables")

FORMATS = ["html", "latex", "markdown"]
#: The program that typesets LaTeX, if installed.
ENGINE = next(filter(None, map(shutil.which, ("pdflatex", "lualatex", "xelatex", "tectonic"))), None)
ESCAPED = re.compile(r"\\([\\`*_\[\]<>|~&#$%{}])")


def per_query(**systems: list[float | None]) -> pl.DataFrame:
    """A per-query frame of one measure, AP, with a query for each value."""
    return frame("AP", **systems)


def frame(measure: str, **systems: list[float | None]) -> pl.DataFrame:
    rows = [
        {"run": system, "query_id": f"q{i:03}", measure: value}
        for system, values in systems.items()
        for i, value in enumerate(values)
    ]
    return pl.DataFrame(rows, schema={"run": pl.String, "query_id": pl.String, measure: pl.Float64})


class Cells(HTMLParser):
    """The cells of a table in HTML: their text, with ** around what is bold and <sup> around marks."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.bold = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
            self.bold = "bold" in (dict(attrs).get("style") or "")
        if tag == "sup":
            self.rows[-1][-1] += "<sup>"

    def handle_endtag(self, tag: str) -> None:
        if tag == "sup":
            self.rows[-1][-1] += "</sup>"

    def handle_data(self, data: str) -> None:
        if self.rows and self.rows[-1] and data.strip():
            number = data.lstrip()
            is_bold = self.bold and not self.rows[-1][-1].endswith("<sup>")
            self.rows[-1][-1] += f"{data.removesuffix(number)}**{number}**" if is_bold else data


def grid(text: str, format: str) -> list[list[str]]:
    """The headings and rows of a table, as Markdown would have them without escapes."""
    if format == "html":
        parser = Cells()
        parser.feed(text[text.index("<thead") : text.index("<tfoot")])
        (corner, *measures), parts, *rows = parser.rows
        if "mean" not in parts:
            return parser.rows
        names = [measures[number - 1] for number in accumulate(part == "mean" for part in parts)]
        headings = [name if part == "mean" else f"{name} {part}" for name, part in zip(names, parts, strict=True)]
        return [[corner, *headings], *rows]
    if format == "markdown":
        lines = [line for line in text.splitlines() if line.startswith("|") and "---" not in line]
        return [[ESCAPED.sub(r"\1", cell.strip(" ")) for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]
    return grid_of(text)


def cells(frame: pl.DataFrame, **options: object) -> list[list[str]]:
    """The rows of a table, without its headings."""
    return grid(table(frame, format="markdown", **options), "markdown")[1:]


def note(frame: pl.DataFrame, **options: object) -> str:
    return table(frame, format="markdown", **options).splitlines()[-1]


LOW, MIDDLE, HIGH = [0.1, 0.2, 0.1, 0.3, 0.2], [0.5, 0.4, 0.6, 0.5, 0.4], [0.9, 0.8, 1.0, 0.7, 0.9]


def test_a_dagger_is_better_than_the_baseline_and_a_double_dagger_worse():
    found = cells(per_query(low=LOW, middle=MIDDLE, high=HIGH), baseline="middle")
    # Means by hand: 0.9 / 5, 2.4 / 5, 4.3 / 5.
    assert found == [["low", "0.1800<sup>‡</sup>"], ["middle", "0.4800"], ["high", "**0.8600**<sup>†</sup>"]]


def test_letters_are_those_of_the_systems_that_one_is_better_than():
    found = cells(per_query(low=LOW, middle=MIDDLE, high=HIGH))
    assert found == [
        ["low (a)", "0.1800"],
        ["middle (b)", "0.4800<sup>a</sup>"],
        ["high (c)", "**0.8600**<sup>a,b</sup>"],
    ]


@pytest.mark.whole("a second")
def test_of_a_cost_the_lowest_is_best_and_better():
    costs = frame("Hole@10", low=LOW, middle=MIDDLE, high=HIGH)
    assert cells(costs, baseline="middle") == [
        ["low", "**0.1800**<sup>†</sup>"],
        ["middle", "0.4800"],
        ["high", "0.8600<sup>‡</sup>"],
    ]
    assert cells(costs)[0] == ["low (a)", "**0.1800**<sup>b,c</sup>"]
    assert "of Hole@10 the lowest" in note(costs)


def test_what_prints_like_the_best_is_bold_too():
    close = per_query(a=[0.50004, 0.1], b=[0.5, 0.1], c=[0.4, 0.1])
    assert [row[1] for row in cells(close, test=None)] == ["**0.3000**", "**0.3000**", "0.2500"]
    assert [row[1] for row in cells(close, test=None, digits=5)] == ["**0.30002**", "0.30000", "0.25000"]


def test_a_rounded_loss_of_nothing_has_no_sign():
    assert cells(per_query(a=[-0.00001], b=[0.0]), test=None) == [["a", "**0.0000**"], ["b", "**0.0000**"]]


def test_percent_are_of_measures_with_an_upper_bound():
    both = per_query(a=[0.5, 0.25]).with_columns(NumRelRet=pl.Series([7, 8]), mine=pl.Series([0.1, 0.2]))
    headings, row = grid(table(both, percent=True, format="markdown"), "markdown")
    assert headings == ["", "AP (%)", "NumRelRet", "mine (%)"]
    assert row == ["a", "37.50", "7.50", "15.00"]


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.whole("half a second a case", quick=1)
def test_where_all_are_percents_the_corner_says_so_once(format):
    both = per_query(a=LOW, b=HIGH).with_columns(RR=pl.col("AP"))
    text = table(both, percent=True, format=format)
    assert grid(text, format)[0] == ["(%)", "AP", "RR"]


def test_numbers_of_different_length_have_their_points_one_below_the_other():
    assert [row[1] for row in cells(frame("DCG", a=[1.0], b=[100.0]), test=None, digits=1)] == [
        "\N{FIGURE SPACE}\N{FIGURE SPACE}1.0",
        "**100.0**",
    ]


def test_order_sorts_by_a_measure_the_best_first_and_letters_follow():
    found = cells(per_query(low=LOW, middle=MIDDLE, high=HIGH), order="map")
    assert [row[0] for row in found] == ["high (a)", "middle (b)", "low (c)"]
    assert found[0][1] == "**0.8600**<sup>b,c</sup>"
    costs = frame("Hole@10", high=HIGH, low=LOW)
    assert [row[0] for row in cells(costs, order="Hole@10", test=None)] == ["low", "high"]


def test_an_undefined_mean_is_a_dash_and_comes_last():
    none = [None, None, None]
    some = per_query(none=none, good=[0.5, 0.6, 0.7]).with_columns(RR=pl.lit(1.0))
    found = cells(some, order="AP", measures=["AP"], baseline="good")
    assert found == [["good", "**0.6000**"], ["none", "\N{FIGURE SPACE}" * 5 + "\N{EN DASH}"]]
    assert "Not tested: 1 of 1 pairs by AP (fewer than two" in note(some, measures=["AP"], baseline="good")
    assert "Undefined and left out: AP of none for 3 queries." in note(some, measures=["AP"], baseline="good")
    value = note(some.select("run", "query_id", value="AP"), baseline="good")
    assert "Undefined and left out: value of none for 3 queries." in value


@pytest.mark.parametrize(("place", "name"), [(0, "a"), (25, "z"), (26, "aa"), (27, "ab"), (51, "az"), (52, "ba")])
def test_letters_go_on_after_z(place, name):
    assert letter(place) == name


def test_letters_never_repeat():
    names = [letter(i) for i in range(800)]
    assert len(set(names)) == 800
    assert names[701:703] == ["zz", "aaa"]


def many(n_systems: int) -> pl.DataFrame:
    source = random.Random(3)
    levels = source.sample(range(n_systems), n_systems)
    return pl.DataFrame(
        [
            {"run": f"s{i:02}", "query_id": q, "AP": levels[i] / 50 + source.gauss(0, 0.05), "RR": source.random()}
            for i in range(n_systems)
            for q in range(20)
        ]
    )


def named_by(superscript: str, names: list[str]) -> list[str]:
    """The letters that `a,c-e` stands for."""
    found = []
    for part in superscript.split(",") if superscript else []:
        first, _, last = part.partition("\N{EN DASH}")
        found += names[names.index(first) : names.index(last or first) + 1]
    return found


@pytest.mark.whole("435 pairs")
def test_letters_of_30_systems_are_the_significant_pairs_of_compare():
    scores = many(30)
    _, *rows = grid(table(scores, order="AP", format="markdown"), "markdown")
    system_of = {row[0].split("(")[1].rstrip(")"): row[0].split(" ")[0] for row in rows}
    assert list(system_of)[24:28] == ["y", "z", "aa", "ab"]
    shown = {
        (row[0].split(" ")[0], system_of[beaten], measure)
        for row in rows
        for measure, cell in zip(("AP", "RR"), row[1:], strict=True)
        for beaten in named_by((re.findall("<sup>(.*)</sup>", cell) or [""])[0], list(system_of))
    }
    pairs = compare(scores).filter(pl.col("significant")).select("run", "baseline", "measure", "difference").rows()
    assert shown == {(a, b, measure) if d > 0 else (b, a, measure) for a, b, measure, d in pairs}
    assert len(shown) > 200


@pytest.mark.whole("half a second")
def test_three_letters_in_a_row_are_a_range():
    _, best = cells(many(30), measures="AP", order="AP")[0]
    assert re.search("\\*\\*<sup>[a-z]\N{EN DASH}ad</sup>$", best)


@pytest.mark.whole("a second")
def test_bold_is_the_best_mean_of_pydocs():
    pydocs = ir.datasets.load("pydocs")
    scores = ir.evaluate(pydocs.runs, pydocs.qrels, ["nDCG@10", "AP", "R@100"])
    means = ir.mean(scores)
    headings, *rows = grid(table(scores, format="markdown"), "markdown")
    bold = {h: row[0].split(" ")[0] for row in rows for h, c in zip(headings, row, strict=True) if c.startswith("**")}
    assert bold == {m: means.sort(m)["run"][-1] for m in ("nDCG@10", "AP", "R@100")}


STRANGE = {"a_b & 50%": LOW, "[x] {y} #1": MIDDLE, "<i>|~^\\$*`": HIGH}


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.whole("a quarter of a second a case", quick=1)
def test_names_are_printed_as_they_are(format):
    odd = frame("my_AP & <b>*", **STRANGE)
    headings, *rows = grid(table(odd, baseline="a_b & 50%", format=format), format)
    assert headings == ["", "my_AP & <b>*"]
    assert [row[0] for row in rows] == list(STRANGE)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.whole("a quarter of a second a case", quick=1)
def test_a_line_break_in_a_name_does_not_break_the_row(format):
    names = frame("AP", **{"a\nb": LOW, "c": HIGH})
    assert [len(row) for row in grid(table(names, format=format), format)] == [2, 2, 2]


@pytest.mark.parametrize("options", [{}, {"baseline": "s03"}, {"percent": True, "digits": 1}, {"test": None}])
@pytest.mark.whole("a second a case", quick=1)
def test_all_formats_say_the_same(options):
    scores = many(6).with_columns(undefined=pl.lit(None, pl.Float64))
    shown = {format: grid(table(scores, format=format, **options), format) for format in FORMATS}
    assert shown["html"] == shown["markdown"]
    # LaTeX aligns numbers itself.
    assert shown["latex"] == [[cell.lstrip("\N{FIGURE SPACE}") for cell in row] for row in shown["markdown"]]
    assert [float(row[2].split("<")[0].strip("*")) for row in shown["latex"][1:]] == pytest.approx(
        [x * (100 if options.get("percent") else 1) for x in ir.mean(scores)["RR"]], abs=0.05
    )


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.whole("a quarter of a second a case", quick=1)
def test_the_note_and_the_title_are_there_and_escaped(format):
    text = table(per_query(**STRANGE), baseline="a_b & 50%", title="A & B_1 <c>", format=format)
    title = {"html": "A &amp; B_1 &lt;c&gt;", "latex": r"\caption{A \& B\_1 \textless{}c\textgreater{}}"}
    assert title.get(format, r"A \& B\_1 \<c\>") in text
    baseline = {"html": "a_b &amp; 50%", "latex": r"a\_b \& 50\%"}.get(format, r"a\_b \& 50%")
    assert f"significantly better than {baseline}" in text


def test_the_structure_of_latex():
    text = table(per_query(**STRANGE), title="{ \\ }", format="latex")
    bare = re.sub(r"\\[{}\\]", "", text)
    depth = 0
    for character in bare:
        depth += {"{": 1, "}": -1}.get(character, 0)
        assert depth >= 0
    assert depth == 0
    assert re.findall(r"\\(begin|end)\{(\w+)\}", text) == [
        ("begin", "table"),
        ("begin", "tabular"),
        ("end", "tabular"),
        ("end", "table"),
    ]
    assert columns_of(text) == ["l", "r@{.}l"]
    assert {len(row) for row in grid(text, "latex")} == {2}
    # A bracket or an asterisk at the start of a row would be an option of the line break before it.
    assert not re.search(r"\\\\\s*[\[*]", text)


def test_a_great_table_holds_numbers_and_can_be_extended():
    shown = table(per_query(low=LOW, high=HIGH), percent=True)
    assert isinstance(shown, great_tables.GT)
    # It formats what it holds: 18 and 86 are numbers.
    assert ">$18.00<" in shown.fmt_currency("AP", rows=[0]).as_raw_html()
    assert "of my own" in shown.tab_source_note("of my own").as_raw_html()


FIVE = {"low": LOW, "middle": MIDDLE, "high": HIGH, "same": MIDDLE}


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.whole("half a second a case", quick=1)
def test_intervals_differences_and_p_stand_beside_the_means(format):
    scores = per_query(**FIVE)
    shown = table(scores, baseline="middle", show=["p", "difference", "interval"], digits=3, format=format)
    headings, *rows = grid(shown, format)
    assert headings == ["", "AP", "AP 95 % interval", "AP difference", "AP p"]
    means = {row["run"]: row for row in ir.summarize(scores).iter_rows(named=True)}
    pairs = {row["run"]: row for row in compare(scores, baseline="middle").iter_rows(named=True)}
    for row in rows:
        numbers = [[float(n.replace("\N{MINUS SIGN}", "-")) for n in re.findall(NUMBER, cell)] for cell in row[1:]]
        mean, pair = means[row[0]], pairs.get(row[0])
        assert numbers[1] == pytest.approx([mean["low"], mean["high"]], abs=0.0006)
        if pair is None:
            assert [cell.strip("\N{FIGURE SPACE}") for cell in row[3:]] == ["\N{EN DASH}"] * 2
        elif row[0] == "same":
            assert row[3].endswith("+0.000")
            assert row[4].strip("\N{FIGURE SPACE}") == "\N{EN DASH}"
        else:
            assert numbers[2] == pytest.approx([pair["difference"], pair["low"], pair["high"]], abs=0.0006)
            assert numbers[3] == pytest.approx([pair["p_corrected"]], abs=0.0006)


NUMBER = "[-+\N{MINUS SIGN}]?[0-9]*[.][0-9]+"


def test_a_p_below_a_thousandth_is_not_written_out():
    scores = per_query(a=[0.1 + i % 3 / 100 for i in range(30)], b=[0.9 - i % 4 / 100 for i in range(30)])
    assert [row[-1] for row in cells(scores, baseline="a", show="p")] == [
        "\N{FIGURE SPACE}" * 4 + "\N{EN DASH}",
        "<.001",
    ]


def test_differences_in_percent_are_percent_too():
    shown = cells(per_query(a=[0.1, 0.2, 0.6], b=[0.2, 0.2, 0.8]), baseline="a", show="difference", percent=True)
    assert shown[1][2].startswith("+10.00 [")


def test_the_points_of_differences_are_one_below_the_other():
    scores = frame("DCG", base=[1.0, 2.0, 3.0], far=[101.0, 112.0, 123.0], near=[1.1, 2.2, 3.1])
    _, far, near = (row[2] for row in cells(scores, baseline="base", show="difference", digits=1))
    assert [i for i, c in enumerate(far) if c == "."] == [i for i, c in enumerate(near) if c == "."]


@pytest.mark.whole("typeset")
def test_a_label_stands_behind_the_caption_and_the_float_is_as_wide_as_asked():
    few, many_columns = (
        per_query(low=LOW, high=HIGH),
        many(3).with_columns(**{f"P@{i}": pl.col("RR") for i in range(1, 9)}),
    )
    text = table(few, title="Means", label="tab:main", format="latex")
    assert "\\caption{Means}\n\\label{tab:main}\n\\par\\smallskip\n" in text
    assert re.findall(r"\\(?:begin|end)\{(table\*?)\}", text) == ["table", "table"]
    assert re.findall(r"\\(?:begin|end)\{(table\*?)\}", table(many_columns, format="latex")) == ["table*", "table*"]
    assert "table*" not in table(many_columns, format="latex", wide=False)
    assert "table*" in table(few, format="latex", wide=True)


#: Tables of one measure and of many, with and without what stands beside the means.
TYPESET = {
    "strange names": (per_query(**STRANGE), {"baseline": "[x] {y} #1", "show": ["interval", "difference", "p"]}),
    "letters": (many(4).with_columns(NumRet=pl.lit(1000)), {"percent": True}),
    "intervals": (many(4), {"show": "interval"}),
    "all of two measures": (
        many(4).with_columns(AP=pl.col("RR") / 3),
        {"baseline": "s01", "percent": True, "show": ["interval", "difference", "p"]},
    ),
    "six measures": (many(9).with_columns(**{f"Success@{i}": pl.col("RR") for i in range(1, 6)}), {"percent": True}),
    "whole numbers": (many(3), {"digits": 0}),
    "broken": (
        many(4).with_columns(**{f"Success@{i}": pl.col("RR") for i in range(1, 12)}),
        {"baseline": "s01", "show": ["interval", "p"]},
    ),
    "long names": (
        many(3).with_columns(run="bm25 with pseudo-relevance feedback " + pl.col("run")),
        {"show": "interval"},
    ),
}


@pytest.mark.skipif(ENGINE is None, reason="there is no TeX engine")
@pytest.mark.parametrize("name", TYPESET)
def test_latex_can_be_typeset_and_fits_its_page(tmp_path, name):
    scores, options = TYPESET[name]
    shown = table(scores, format="latex", title="A & B_1", label="tab:a", **options)
    document = [
        "\\documentclass[twocolumn]{article}",
        "\\usepackage{booktabs}",
        "\\begin{document}",
        shown,
        "\\end{document}",
    ]
    (tmp_path / "paper.tex").write_text("\n".join(document), encoding="utf-8")
    options = ["--keep-logs"] if "tectonic" in ENGINE else ["-interaction=nonstopmode", "-halt-on-error"]
    subprocess.run([ENGINE, *options, "paper.tex"], cwd=tmp_path, check=True, capture_output=True, timeout=900)  # noqa: S603  # our own text
    assert (tmp_path / "paper.pdf").stat().st_size > 1000
    assert "Overfull" not in (tmp_path / "paper.log").read_text(errors="replace", encoding="utf-8")


def test_what_stands_beside_a_mean_is_below_its_measure():
    text = table(per_query(**FIVE), baseline="middle", show=["p", "interval"], format="latex")
    assert " & \\multicolumn{4}{c}{AP} \\\\\n\\cmidrule(lr){2-5}\n" in text
    assert columns_of(text) == ["l", "r@{.}l", "r", "r"]


@pytest.mark.whole("a second")
def test_letters_get_smaller_where_a_table_is_wider_than_the_page():
    wide = many(4).with_columns(AP=pl.col("RR") / 3)
    beside = {"baseline": "s01", "show": ["interval", "difference", "p"], "format": "latex"}
    assert "\\scriptsize\\setlength{\\tabcolsep}" in table(wide, **beside)
    assert "tabcolsep" not in table(per_query(low=LOW, high=HIGH), format="latex")


@pytest.mark.whole("a second")
def test_what_fits_no_page_is_broken_into_tables_below_each_other():
    wide = many(4).with_columns(**{f"P@{i}": pl.col("RR") for i in range(1, 12)})
    text = table(wide, baseline="s01", show=["interval", "p"], format="latex")
    assert text.count("\\begin{table*}") == 1
    assert text.count("\\begin{tabular}") == 5
    assert [text.count(f"{{4}}{{c}}{{{name}}}") for name in wide.columns[2:]] == [1] * 13
    assert text.count("\ns02 & ") == 5


def test_a_measure_that_is_wider_than_the_page_is_told():
    long = per_query(low=LOW, high=HIGH).with_columns(run=pl.col("run") + "m" * 90)
    with pytest.warns(ir.IRWarning, match=r"the table is about \d+ pt wider than the 469 pt that LaTeX has for it\."):
        table(long, format="latex")


def test_html_has_the_measure_above_what_stands_beside_its_mean():
    shown = table(per_query(**FIVE), baseline="middle", show=["p", "interval"], format="html")
    assert 'scope="colgroup"' in shown
    assert re.findall(r">(AP|mean|95 % interval|p)</", shown) == ["AP", "mean", "95 % interval", "p"]


def test_a_great_table_prints_as_markdown():
    scores = per_query(low=LOW, high=HIGH)
    shown = table(scores)
    assert repr(shown) == table(scores, format="markdown")
    assert str(shown.tab_source_note("more")) == str(shown)


def test_one_system_has_neither_marks_nor_bold():
    assert cells(per_query(alone=LOW)) == [["alone", "0.1800"]]
    assert cells(per_query(alone=LOW), baseline="alone") == [["alone", "0.1800"]]
    assert note(per_query(alone=LOW)) == "5 queries."


def test_systems_with_one_query_have_no_marks():
    of_one, with_dashes = per_query(low=LOW[:1], high=HIGH[:1]), {"baseline": "low", "show": ["difference", "p"]}
    assert note(of_one) == note(of_one, **with_dashes) == "Bold: the best. 1 query."


def test_a_frame_without_systems_is_one():
    assert cells(per_query(alone=LOW).drop("run")) == [["mean", "0.1800"]]


def test_without_a_test_there_are_no_marks():
    assert cells(per_query(low=LOW, high=HIGH), test=None) == [["low", "0.1800"], ["high", "**0.8600**"]]
    assert note(per_query(low=LOW, high=HIGH), test=None) == "Bold: the best. 5 queries."


def test_a_dict_of_frames_and_pandas_make_the_same_table():
    pytest.importorskip("pandas")
    both = per_query(low=LOW, high=HIGH)
    by_system = {name: both.filter(run=name).drop("run") for name in ("low", "high")}
    assert cells(by_system) == cells(both)
    assert cells(both.to_pandas()) == cells(both)


@pytest.mark.whole("a second")
def test_systems_may_be_numbers():
    numbered = per_query(low=LOW, high=HIGH).with_columns(run=pl.when(run="low").then(1).otherwise(2))
    assert cells(numbered, baseline=1) == [["1", "0.1800"], ["2", "**0.8600**<sup>†</sup>"]]
    assert cells(numbered, baseline="1") == cells(numbered, baseline=1)


@pytest.mark.whole("a second")
def test_a_missing_query_counts_as_0_or_not_and_the_note_says_so():
    some = per_query(a=LOW, b=HIGH).head(9)
    # The last value of b, 0.9, is not there: (0.9 + 0.8 + 1.0 + 0.7) / 5, or / 4.
    assert cells(some)[1][1].startswith("**0.6800**")
    assert cells(some, missing="skip")[1][1].startswith("**0.8500**")
    assert "Queries without an answer count as 0: 1 of b." in note(some)
    assert "Queries without an answer are left out: 1 of b." in note(some, missing="skip")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "paired t-test, level 0.05, Holm correction for each measure, 5 queries"),
        ({"correction": "fdr_bh", "alpha": 0.01}, "level 0.01, Benjamini-Hochberg correction"),
        ({"correction": None, "test": "randomisation"}, "paired randomisation test, level 0.05, no correction"),
        ({"test": "tukey"}, "randomised Tukey HSD, level 0.05, 5 queries"),
        ({"test": "max-t"}, "step-down max-t test, level 0.05, 5 queries"),
    ],
)
def test_the_note_names_the_test(options, words):
    assert words in note(per_query(low=LOW, middle=MIDDLE, high=HIGH), **options)


def test_the_note_says_where_nothing_is_significant():
    assert note(per_query(a=[0.1, 0.5, 0.3], b=[0.2, 0.4, 0.3])).startswith("No difference is significant (")


def test_comparisons_that_can_not_be_made_are_told():
    same = per_query(a=LOW, b=LOW, c=HIGH)
    assert "Not tested: 1 of 3 pairs by AP (all differences are 0)." in note(same)


@pytest.mark.whole("all tables, twice")
def test_the_same_call_makes_the_same_text():
    scores = many(4)
    for format in FORMATS:
        texts = {table(scores, test="randomisation", resamples=200, format=format) for _ in range(2)}
        assert len(texts) == 1


BOTH = per_query(low=LOW, high=HIGH)


@pytest.mark.parametrize(
    ("given", "options", "words"),
    [
        (BOTH, {"format": "latx"}, ["format must be one of 'gt', 'html', 'latex', 'markdown'", "'latex'"]),
        (BOTH, {"digits": -1}, ["digits must be a whole number from 0 to 15; got -1"]),
        (BOTH, {"digits": 2.0}, ["digits must be"]),
        (BOTH, {"digits": True}, ["digits must be"]),
        (BOTH, {"baseline": "hihg"}, ["baseline names 'hihg', which is not one of the systems", "Did you mean 'high'"]),
        (
            BOTH.filter(run="low"),
            {"baseline": "lowe"},
            ["which is not one of the systems", "Did you mean 'low'"],
        ),
        (BOTH.filter(query_id="q000"), {"baseline": "hihg"}, ["baseline names 'hihg'", "Did you mean 'high'"]),
        (BOTH, {"measures": "nDCG@10"}, ["no measure 'nDCG@10'"]),
        (BOTH.with_columns(RR=1), {"measures": "AP", "order": "RR"}, ["order must be one of the measures, 'AP'"]),
        (BOTH, {"order": ["AP"]}, ["order must be one of the measures"]),
        (BOTH, {"title": 3}, ["title must be a text"]),
        (BOTH, {"show": "intervall"}, ["show must be one of 'interval', 'difference', 'p'", "Did you mean 'interval'"]),
        (BOTH, {"show": "difference"}, ["needs a baseline and a test. Name the baseline."]),
        (BOTH, {"show": 3}, ["show must be one of"]),
        (BOTH, {"show": "p", "baseline": "low", "test": None}, ["needs a baseline and a test. Name the test."]),
        (BOTH, {"label": "tab:a"}, ["give a title"]),
        (BOTH, {"label": "a}b", "title": "A"}, ["label must be a name without blanks and commands"]),
        (BOTH.lazy(), {}, ["ir.table", "LazyFrame"]),
    ],
)
def test_what_can_not_be_is_an_error_that_says_so(given, options, words):
    message = message_of(lambda: table(given, **options))
    assert [word for word in words if word not in message] == []
