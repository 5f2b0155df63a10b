"""Functions of single elements, real and complex, as operations of arith and math."""
