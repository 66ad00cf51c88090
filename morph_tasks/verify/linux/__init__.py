"""Suites inside a Linux container: which image, what is copied in, how it runs, what comes back."""
