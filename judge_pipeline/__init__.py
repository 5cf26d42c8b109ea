"""judge_pipeline: measures LLM judges of code, and the people who code with AI, as a Dagster pipeline."""
