"""Reports: tables and figures in, one self-contained page out; and the same numbers as Markdown and for a terminal."""
