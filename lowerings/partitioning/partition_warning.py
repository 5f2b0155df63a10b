"""What the partitioner says to users where it could not do better."""


class PartitionWarning(UserWarning):
    """Something is gathered, or computed by every device, that a rule could have divided."""
