"""Preference (TRACE): two responses and a human choice. Pairs and their importers, accuracy, rubric, misalignment.

Functions take and return tables; nothing here touches disk, clock or network.
"""
