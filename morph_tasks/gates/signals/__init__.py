"""The facts a gate looks at, one module a signal; `table.py` is the list."""
