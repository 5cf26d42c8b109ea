"""The command line, beside the UI: ``judge-pipeline``."""
