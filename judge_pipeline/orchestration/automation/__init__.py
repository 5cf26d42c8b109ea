"""What runs by itself: folders that are watched, the chain that follows a new reading, retries, notifications.

State is what is materialized. What a sensor remembers (``watched``) only spares it work: without it, or with that of
last week, it asks for the same runs, and a run that was asked for once is known by its key.
"""
