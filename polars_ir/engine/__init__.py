"""A run and its judgments to the judged relation, and that to a row per query. It knows no measure by name."""
