"""Legalization between StableHLO and `xla`: one file a family, which holds both directions.

What is the same in both dialects is stated by the classes of `stablehlo.ops`; the files here have
what is not.
"""
