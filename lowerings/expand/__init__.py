"""Operations of the xla dialect in terms of simpler ones."""
