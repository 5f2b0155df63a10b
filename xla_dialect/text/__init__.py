"""Types as HLO text spells them; the builder and StableHLO's attributes spell them so, too."""
