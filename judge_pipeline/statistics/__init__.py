"""Pure functions on arrays: what every figure is computed with. Nothing here knows a table, a file or a judge's name.

Undefined is NaN inside arrays (one replicate of a bootstrap may be undefined), and becomes null with its reason where
an ``Estimate`` is made of it.
"""
