"""Command line tools: they parse arguments, call the library and print."""
