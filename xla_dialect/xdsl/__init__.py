"""All that concerns xDSL itself: repairs of 0.74, operations it lacks, quicker ways through IR."""
