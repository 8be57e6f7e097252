"""Configurations of a fusion, tried on judged queries: the grid, the folds, the values of each."""
