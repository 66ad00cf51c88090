"""The end of a feature: archive, integrate, take down. Five steps that talk to each other through the journal alone."""
