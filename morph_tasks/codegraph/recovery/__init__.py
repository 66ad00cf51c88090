"""Consumers that the graph lost: found again from the source, each only where the source proves it."""
