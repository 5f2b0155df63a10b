"""
The search for schedules: kernels of a program, measured with one schedule after the other.

`program_kernels` finds what there is to tune, `search` does it. What a search tries, in which order
and why, are three small parts that can be replaced, each by a function: `space` (what schedules are
near another), `cost_model` (what a schedule may cost) and `strategies` (which to try next).
"""
