"""How a linalg operation on memrefs is to run, as data: the attribute that passes hand on."""
