"""`xla-build`: executables of programs that MLIR's own passes have compiled."""
