"""Shared by writers: checks that a format can hold a table, and atomic replacement of files."""
