"""Shared parts of writing: the checks that a format can hold a table, and the replacement of a file as a whole."""
