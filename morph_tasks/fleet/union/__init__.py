"""All green features together, before anyone merges: conflicts, an order, and a proof of the whole."""
