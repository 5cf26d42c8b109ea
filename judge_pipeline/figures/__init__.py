"""Plotly figures by paper section: tables in, figures out; no disk, no network, plotly imported when drawing."""
