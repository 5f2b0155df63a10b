"""Types, literals and values of attributes as HLO text spells them; others spell them so, too."""
