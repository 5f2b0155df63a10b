"""What programs say to other processes and to their host, from the xla level down."""
