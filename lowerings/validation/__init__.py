"""Translation validation of passes by running modules before and after each."""

from lowerings.validation.validator import MeaningChanged, Validator

__all__ = ["MeaningChanged", "Validator"]
