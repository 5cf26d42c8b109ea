"""From a figure home to the rows, judgments and files that it rests on, and back; pure functions on stored tables.

What a figure rests on is found by a rule a table of figures (``rules``), from the same masks and arrays that the figure
was computed with wherever they can be had, and counted: a figure's n is held against the rows that are listed.
"""
