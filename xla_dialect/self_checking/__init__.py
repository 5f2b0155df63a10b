"""The dialects of programs that check themselves, spelled as StableHLO spells them."""
