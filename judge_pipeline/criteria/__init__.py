"""Pairs judged criterion by criterion, refined, filtered and guided by people's preferences (CriterAlign)."""
