"""
Random programs, run by several executors that have to agree.

`generation` makes a program of a seed from the steps of `elements`, `movement`, `folds` and
`control`. `judging` compares, operation by operation, what an executor computed with what the
reference computes from the same operands. `reduction` makes a failing program small.
"""
