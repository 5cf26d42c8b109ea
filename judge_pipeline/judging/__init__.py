"""One door to every model: what is asked, of whom, how often, at what price, and what came back.

Here belongs everything between a table of judge requests and a table of judgments: requests and their hashes, answers
and their repair, the checkpoint, limits, and the backends. What a judgment is used for does not belong here, and
nothing here knows about Dagster.
"""
