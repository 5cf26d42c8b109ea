"""Audit bundles: one archive of what the figures of a contest or a preference set rest on, and its verification.

A bundle is laid out as a workspace (``assets_config/``, ``data/``, ``var/``), so that the same jobs run over it;
stored answers are JSON lines beside it. What is here takes archives apart, holds them against their manifest, runs the
jobs in a folder of their own with nobody to ask, and compares what they make. Figures are computed elsewhere.
"""
