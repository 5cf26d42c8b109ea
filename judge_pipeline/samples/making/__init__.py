"""How the sample contest was made: problems, programs, the runs that gave the verdicts, and the artifacts."""
