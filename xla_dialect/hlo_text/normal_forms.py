"""The one spelling of attributes that HLO text has in several, as XLA prints it.

`{HIGH,default}` is `{high,default}`; what says the default is not printed at all.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from xla_dialect.spelling import SpellingError

DEFAULT = ""
"""The normal form of a value that says the default: there is no attribute."""


def normal_form(attribute: str, text: str) -> str:
    """
    The normal form of a well-spelled value, or DEFAULT.

    Raises SpellingError for a value that is well spelled and means nothing.
    """
    normal = _NORMAL_FORMS.get(attribute)
    return text if normal is None else normal(text)


def _precisions(text: str) -> str:
    words = [word.strip().lower() for word in text.strip().strip("{}").split(",")]
    return DEFAULT if set(words) <= {"default", ""} else f"{{{','.join(words)}}}"


def _unless(default: str, change: Callable[[str], str]) -> Callable[[str], str]:
    """The word in one case, or nothing for the default."""
    return lambda text: DEFAULT if change(text) == default else change(text)


def _accuracy(text: str) -> str:
    mode = re.search(r"mode=\s*(\w+)", text)
    if mode is not None:
        word = mode.group(1).lower()
        return DEFAULT if word == "default" else f"{{mode={word}}}"
    given = {field.group(1): field for field in _TOLERANCE.finditer(text)}
    values: dict[str, str] = {}
    for name in ("atol", "rtol", "ulps"):
        number = float(given[name].group(2)) if name in given else 0.0
        if not number >= 0:
            raise SpellingError(
                f"{name} is {number:g}, tolerances are not negative", given[name].start()
            )
        values[name] = str(int(number)) if name == "ulps" and number < _INFINITY else f"{number:g}"
    return f"{{tolerance={{{','.join(f'{name}={value}' for name, value in values.items())}}}}}"


_INFINITY = float("inf")
_TOLERANCE = re.compile(r"(atol|rtol|ulps)=\s*([^\s,}]+)")

_NORMAL_FORMS: Mapping[str, Callable[[str], str]] = {
    "algorithm": _unless("unset", str.lower),
    "operand_precision": _precisions,
    "result_accuracy": _accuracy,
    "schedule": _unless("SCHEDULE_NONE", str.upper),
}
