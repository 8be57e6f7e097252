"""The rows of texts: fields between blanks, verdicts on rows, quotes, and the problems of files that fail."""
