"""Features in parallel: their work trees, how they end, and what is known of all of them."""
