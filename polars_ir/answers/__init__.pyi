from polars_ir.answers.citations import (
    citation_precision as citation_precision,
    citation_recall as citation_recall,
)
from polars_ir.answers.nuggets import nugget_recall as nugget_recall
from polars_ir.answers.read_nuggets import read_nuggets as read_nuggets
from polars_ir.answers.read_support import read_support as read_support
