"""Where programs leave the compiler: as LLVM IR, as assembly."""
