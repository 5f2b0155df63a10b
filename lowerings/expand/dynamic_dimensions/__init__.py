"""
Dynamic dimensions as static ones beside sizes: the rules of `xla-expand-dynamic-dimensions`.

An array gets its bounds as sizes, and for each dynamic dimension a scalar that counts the elements
that are there, the first ones. What follows them has no meaning, and is masked where it would be
met. So do XLA's passes, which they call dynamic padding.
"""
