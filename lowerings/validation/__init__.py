"""Checking passes by running: does a module mean after a pass what it meant before?"""

from lowerings.validation.validator import MeaningChanged, Validator

__all__ = ["MeaningChanged", "Validator"]
