"""Formulas as MathML, which browsers draw themselves: no script, and nothing from the network."""

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator


def mathml(formula: str, display: str) -> str:
    """A formula as MathML, in which texts have no backslash before an underscore."""
    return convert(formula, display=display).replace(r"\_", "_")


def inline(writer: HTML5Translator, node: nodes.Element) -> None:
    """A formula in a line."""
    writer.body.append(mathml(node.astext(), "inline"))
    raise nodes.SkipNode


def displayed(writer: HTML5Translator, node: nodes.Element) -> None:
    """A formula of its own, which scrolls where it is wider than the page."""
    writer.body.append(f'<div class="formula">{mathml(node.astext(), "block")}</div>')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Make MathML what Sphinx draws formulas with."""
    app.add_html_math_renderer("mathml", inline_renderers=(inline, None), block_renderers=(displayed, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
