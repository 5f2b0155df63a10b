"""One module for each library, with `PROGRAMS`: what makes a function of JAX and its arguments."""
