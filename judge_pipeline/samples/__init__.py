"""The sample contest and the sample preference set that ship with judge_pipeline, and how they were made."""
