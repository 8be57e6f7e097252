"""Shared by the functions of a per-query frame: measures, attributes and systems, options and tests."""
