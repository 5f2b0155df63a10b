"""The ladder of micro-kernels on RISC-V: xDSL's backend beside LLVM's."""
