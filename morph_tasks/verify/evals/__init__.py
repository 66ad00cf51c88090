"""Suites of prompts and models: recorded answers in git, scenarios counted by the summary of the command itself."""
