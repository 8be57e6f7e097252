"""The language of measures: words, options, the catalogue with its measures, and the names of other tools."""
