"""Analyses of programs that readers, the reference and passes share."""
