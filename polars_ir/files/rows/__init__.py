"""The rows of texts: fields between blanks, verdicts on rows, quotes, and what is wrong with files that fail."""
