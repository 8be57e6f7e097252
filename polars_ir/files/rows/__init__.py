"""Rows of texts: blank-separated fields, checks, quotes, and the errors of unreadable files."""
