"""Per-query frames compared: systems, slices, periods, orders of systems."""
