"""How alike two texts are: pure functions, no table, no disk."""
