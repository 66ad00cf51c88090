"""How the output of a test runner is read: one module a runner, one table, one verdict."""
