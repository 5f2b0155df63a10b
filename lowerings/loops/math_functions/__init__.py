"""
Elementary functions as straight-line arithmetic, one module for each family.

The coefficients are our own: minimax polynomials by the Remez exchange with 200 bits, in the
relative error of the function, rounded from the lowest power up with the rest fitted anew after
each. Their errors are given without the rounding of the evaluation. The errors of the functions,
in units in the last place of the exact result, are the largest that
`test/loops/test_expand_math.py` finds in f32 and in f64.
"""
