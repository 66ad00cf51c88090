"""Features on disk: where they lie, how they are born, read and changed."""
