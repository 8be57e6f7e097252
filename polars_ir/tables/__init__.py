"""Publication tables."""
