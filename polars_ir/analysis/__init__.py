"""Where values and differences come from: documents, queries, and judgments that are missing."""
