"""
From tensors to planned memory: `xla-bufferize`, `xla-outline-kernels` and
`xla-plan-buffers`, in this order.
"""
