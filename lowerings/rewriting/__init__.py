"""What passes are made of: conversions, removal of dead operations, reports of change."""
