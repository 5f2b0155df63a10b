"""
From tensors to planned memory: `xla-bufferize`, `xla-plan-buffers` and
`xla-outline-kernels`, in this order.
"""
