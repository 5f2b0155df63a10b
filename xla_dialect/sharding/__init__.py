"""How arrays are split over devices: meshes, shardings over their axes, and those of HLO."""
