"""The checkpoint: what is already paid for. Its tables, how it is opened, read, written and locked."""
