"""Finding the files of a source: their places, their first bytes, and copies of what can be read once."""
