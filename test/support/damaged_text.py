"""Texts with mistakes in them, for tests that feed a reader what nobody would write."""

import re
from collections.abc import Sequence

from hypothesis import strategies as st


def damaged(data: st.DataObject, text: str, words: Sequence[str]) -> str:
    """A text with a few words or bytes replaced, removed or repeated, perhaps without its end."""
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(text)))
        end = start + data.draw(st.integers(0, 12))
        piece = data.draw(
            st.one_of(
                st.sampled_from(["", *words]),
                st.binary(max_size=4).map(lambda raw: raw.decode("latin-1")),
                st.just(text[start:end] * 2),
            )
        )
        text = text[:start] + piece + text[end:]
    if data.draw(st.booleans()):
        text = text[: data.draw(st.integers(0, len(text)))]
    return text


_WORD = re.compile(r"[\w.\-]+|\s+|.", re.DOTALL)


def exchanged(data: st.DataObject, text: str, words: Sequence[str]) -> str:
    """A text with a few words instead of others; numbers become other small ones, mostly."""
    found = _WORD.findall(text)
    numbers = [place for place, word in enumerate(found) if word.isdecimal()]
    for _ in range(data.draw(st.integers(1, 3))):
        if numbers and data.draw(st.booleans()):
            found[data.draw(st.sampled_from(numbers))] = str(data.draw(st.integers(-1, 9)))
            continue
        other = data.draw(st.one_of(st.sampled_from(["", *words]), st.sampled_from(found)))
        found[data.draw(st.integers(0, len(found) - 1))] = other
    return "".join(found)
