"""
The search for schedules: kernels of a program, measured with one schedule after the other.

`program_search` finds what there is to tune, `search` does it. What a search tries, and in which
order, are two small parts that can be replaced, each by a function: `space` (what schedules are
near another) and a strategy of `search` (which to try next).
"""
