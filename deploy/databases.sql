-- Dagster's records lie apart from what judges have answered: one may be thrown away, the other is paid for.
CREATE DATABASE dagster;
