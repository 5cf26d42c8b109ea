"""What ties the pure rooms to Dagster: partitions, resources, the Parquet store, the table-asset factory, runs.

Nothing is computed here and nothing is wired at import: ``definitions.build_definitions`` assembles.
"""
