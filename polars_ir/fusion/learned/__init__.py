"""Methods of fusion that learn from judged queries."""
