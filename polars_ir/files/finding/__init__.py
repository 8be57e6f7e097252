"""From what a caller names to files that can be read: where they are, how they begin, and copies of what comes once."""
