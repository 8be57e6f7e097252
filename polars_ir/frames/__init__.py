"""Any table in, and a result back in the same kind: recognised columns, checked values."""
