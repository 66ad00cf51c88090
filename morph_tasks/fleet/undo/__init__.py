"""The way back from a finish that nobody else has seen: from its journal, and from the backups that it made."""
