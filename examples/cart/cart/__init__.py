"""A cart and what it costs."""
