"""The builders of the book beside its pages: the generated reference, formulas as MathML, and Markdown for machines."""
