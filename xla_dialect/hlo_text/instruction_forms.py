"""The attributes of an instruction as text, by the table of opcodes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, cast

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, StringAttr
from xdsl.ir import Attribute

from xla_dialect.entry.names import kept_name
from xla_dialect.hlo_text.attributes import COMMON_ATTRIBUTES, kept_text, sharding_text
from xla_dialect.hlo_text.opcodes import Opcode
from xla_dialect.hlo_text.print_options import HloPrintOptions
from xla_dialect.sharding.hlo_sharding import HloShardingAttr

Attributes = Mapping[str, Attribute]
Write = Callable[..., str]


class AttributeForm:
    """How one attribute of one opcode is printed; texts are made once for every value."""

    __slots__ = ("_default", "_implied", "_keys", "_memo", "_prefix", "_write")

    def __init__(
        self,
        name: str,
        keys: Sequence[str],
        write: Write,
        default: Sequence[Any] = (),
        implied: str | None = None,
    ):
        self._prefix = f", {name}="
        self._keys = tuple(keys)
        self._write = write
        self._default = tuple(default)
        self._implied = "" if implied is None else self._prefix + implied
        self._memo: dict[int | tuple[int, ...], tuple[Sequence[Attribute], str]] = {}
        """By the identities of the values, which are held to keep these unique."""

    def text(self, found: Attributes) -> str:
        """`, name=value`, or nothing where the values are absent or the default."""
        keys = self._keys
        if len(keys) == 1:
            memo_key = id(found.get(keys[0]))
        else:
            memo_key = tuple([id(found.get(key)) for key in keys])
        known = self._memo.get(memo_key)
        if known is None:
            known = self._memo[memo_key] = self._written(found)
        return known[1]

    def _written(self, found: Attributes) -> tuple[Sequence[Attribute], str]:
        """The values that are there, and their text."""
        present = [found[key] for key in self._keys if key in found]
        if len(present) < len(self._keys):
            return present, self._implied
        if tuple(present) == self._default:
            return present, ""
        return present, self._prefix + self._write(*present)


def own_attributes(opcode: Opcode) -> tuple[tuple[bool, AttributeForm], ...]:
    """
    The forms of the attributes that are special to an opcode, in order.

    With each stands whether it is kept with the operation and not a property of it.
    """
    forms: list[tuple[bool, AttributeForm]] = []
    for name in opcode.order:
        spelling = opcode.spellings.get(name)
        if spelling is None:
            forms.append((True, kept_form(name, kept_name(name))))
            continue
        keys = spelling.properties
        default = [opcode.defaults.get(key) for key in keys] if name not in opcode.always else ()
        implied = opcode.implied.get(name)
        forms.append((False, AttributeForm(name, keys, spelling.write, default, implied)))
    return tuple(forms)


def kept_form(name: str, key: str) -> AttributeForm:
    """The form of an attribute that is kept under `key` as it was written."""
    return AttributeForm(name, (key,), partial(kept_text, name))


def common_attributes(options: HloPrintOptions) -> dict[str, tuple[int, AttributeForm]]:
    """
    The forms of what any instruction may carry, by the name under which it is kept.

    With each stands its place in the order of printing. `control-predecessors` is not among them:
    its names are those of instructions.
    """
    left_out = {"control-predecessors"}
    if not options.print_metadata:
        left_out.add("metadata")
    if not options.print_backend_config:
        left_out.add("backend_config")
    forms = {
        kept_name(name): (place, kept_form(name, kept_name(name)))
        for place, name in enumerate(COMMON_ATTRIBUTES)
        if name not in left_out
    }
    places = {name: place for place, name in enumerate(COMMON_ATTRIBUTES)}
    for key, (name, write) in OF_STABLEHLO.items():
        forms[key] = places[name], AttributeForm(name, (key,), write)
    return forms


def quoted_text(text: str) -> str:
    """A string in quotes, as HLO text has it."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def _sharding(value: Attribute) -> str:
    if isinstance(value, HloShardingAttr):
        return sharding_text(value)
    text = value.data if isinstance(value, StringAttr) else str(value)
    return text if text.startswith("{") else f"{{{text}}}"


def _frontend_attributes(value: Attribute) -> str:
    if not isinstance(value, DictionaryAttr):
        return "{}"
    return frontend_attributes({name: plain_text(entry) for name, entry in value.data.items()})


def _shardy(name: str, value: Attribute) -> str:
    return frontend_attributes({name: plain_text(value)})


def frontend_attributes(entries: Mapping[str, str]) -> str:
    """`{name="text",...}`"""
    return "{" + ",".join(f"{name}={quoted_text(text)}" for name, text in entries.items()) + "}"


def plain_text(value: Attribute) -> str:
    """A string, or the text of any other attribute."""
    return value.data if isinstance(value, StringAttr) else str(value)


OF_STABLEHLO: Mapping[str, tuple[str, Write]] = {
    "mhlo.sharding": ("sharding", _sharding),
    "mhlo.frontend_attributes": ("frontend_attributes", _frontend_attributes),
    "sdy.sharding": ("frontend_attributes", partial(_shardy, "xla.sdy.sharding")),
    "sdy.sharding_rule": ("frontend_attributes", partial(_shardy, "xla.sdy.sharding_rule")),
}
"""What programs of StableHLO carry that HLO has attributes for: name there, and text of the value
here. Shardings of Shardy travel as frontend attributes, as XLA has them."""


def name_list(value: Attribute | None) -> list[str]:
    """The strings of an array attribute; nothing else in it counts."""
    if not isinstance(value, ArrayAttr):
        return []
    entries = cast("ArrayAttr[Attribute]", value).data
    return [entry.data for entry in entries if isinstance(entry, StringAttr)]
