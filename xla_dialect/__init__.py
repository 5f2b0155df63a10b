"""What HLO is: operations, types and rules, formats that are read and written, the reference."""
