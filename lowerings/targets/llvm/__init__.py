"""
LLVM IR from the loops level (`func scf memref vector arith math complex`), printed as text.

`module.py` prints a module and `func.py` its functions; each other dialect has a file of its
name, whose table `HANDLERS` says how each operation is printed. `emitter.py` is what these share.
`machine.py` hands the text to LLVM.
"""
