"""What ties the pure rooms to Dagster: partitions, resources, the Parquet store, the table-asset factory, runs.

Nothing is computed here and nothing is wired at import: ``definitions.build_definitions`` assembles.
"""

import warnings

import dagster as dg

# Explicit data versions and the mapping from a contest to its judges are beta in Dagster 1.13 and are what its
# documentation shows; the lock holds the version, and tests of the graph would notice a change.
warnings.filterwarnings("ignore", category=dg.BetaWarning, module=r"judge_pipeline\.")
