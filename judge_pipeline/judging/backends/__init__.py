"""The backends: each turns requests into answers in its own way, and none decides what is asked or kept."""
