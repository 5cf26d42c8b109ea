"""The asset graph, one module a group. Each asset calls pure code and adds metadata; nothing is computed here."""
