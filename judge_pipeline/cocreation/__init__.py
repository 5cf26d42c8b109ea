"""Co-creation (paper 1): contexts, splits and requests, then what judges and trajectories show."""
