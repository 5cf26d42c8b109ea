"""The sample contest that ships with judge_pipeline, and how it was made."""
