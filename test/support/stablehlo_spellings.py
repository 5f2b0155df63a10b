"""
Random programs of one use of an operation of StableHLO or CHLO each, in every spelling that MLIR
leaves free.

A use is written in generic form, or printed by jaxlib in any of its forms. Then tokens are
spelled anew: what a change makes of a text need not be legal, jaxlib says whether it is.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import replace

from mlir_spellings import Spelling
from peers import has_jax
from stablehlo_acceptance import ends_the_oracle, reasons
from stablehlo_changes import changed_uses
from stablehlo_uses import Use, spell

if has_jax():
    from stablehlo_oracle import printed, rejection


class StableHloSpelling(Spelling):
    """Spells programs of one operation."""

    def use(self, use: Use) -> str:
        """A module with an operation in generic form."""
        kept = {name: value for name, value in use.attributes.items() if not self.some(0.05)}
        entries = [f"{name} = {spell(value)}" for name, value in kept.items()]
        self.choose.shuffle(entries)
        count = self.choose.choice(
            [0, len(entries), len(entries), self.choose.randint(0, len(entries))]
        )
        rest = [*entries[count:], *filter(None, [self.entries()])]
        made = replace(use, attributes={}, discardable=", ".join(rest)).text()
        properties = f" <{{{', '.join(entries[:count])}}}>" if count else ""
        head, quoted, call = made.rpartition(f'"{use.name}"(')
        names, closing, behind = call.partition(")")
        text = f"{head}{quoted}{names}{closing}{properties}{behind}"
        return self.surroundings(use, text)

    def surroundings(self, use: Use, text: str) -> str:
        """The function with results, attributes, and modules around."""
        if self.some(0.6) and use.results:
            names = [f"%r#{i}" for i in range(len(use.results))]
            if self.some():
                names = [f"%r{i}" for i in range(len(use.results))]
                text = text.replace(f"%r:{len(names)} = ", f"{', '.join(names)} = ")
            types = ", ".join(use.results)
            text = text.removesuffix("return\n}\n") + f"return {', '.join(names)} : {types}\n}}\n"
            layout = ' {mhlo.layout_mode = "default"}'
            results = ", ".join(f"{each}{layout if self.some(0.2) else ''}" for each in use.results)
            text = _HEAD.sub(rf"\1 -> ({results}) {{", text)
        if self.some():
            entries = self.choose.choice(["mhlo.x = 1 : i32", "inline", "a.b"])
            text = _HEAD.sub(rf"\1 attributes {{{entries}}} {{", text)
        if self.some():
            text = text.replace("@main(", "public @main(")
        for _ in range(self.choose.choice([0, 0, 1, 2])):
            text = f"{self.choose.choice(_MODULES)} {{\n{text}}}\n"
        return text

    def respelled(self, text: str) -> str:
        """Tokens and attributes in other spellings."""
        word = self.choose.choice(["#{0}.{1}<{2}>", "#{0}<{1}<{2}>>", "#{0}<{1} {2}>"])
        value = self.choose.choice(["v{}", "a.b-{}", "_{}", "$x_{}", "10{}", "x_{}_2"])
        names: dict[str, str] = {}

        def renamed(found: re.Match[str]) -> str:
            name = found.group()
            return name[0] + names.setdefault(name, value.format(len(names)))

        def aliased(found: re.Match[str]) -> str:
            return self.alias(found.group())

        changes: list[tuple[str, Callable[[re.Match[str]], str]]] = [
            # Attributes
            (r"#(stablehlo|chlo)<(\w+) (\w+)>", lambda found: word.format(*found.groups())),
            (
                r"#(stablehlo|chlo)\.(\w+)(<(?:[^<>]|<[^<>]*>)*>)",
                lambda found: "#{}<{}{}>".format(*found.groups()),
            ),
            (r"(?<=\])(?=>)|(?<=\d)(?=>)(?!> ?:)", lambda found: ","),
            (_ATTRIBUTE, aliased),
            (rf"dense<[^<>]*> : {_TYPE}|array<i\d+(?:: [^<>]*)?>", aliased),
            (r"(?<== )\"[^\"\n]*\"", aliased),
            (r"(?<== )\d+ : i\d+", aliased),
            (r"(?<=[{ ])(\w+)(?= = )", lambda found: f'"{found.group()}"'),
            (r" : i64\b", lambda found: ""),
            (r"(?<=[ \[])\d+(?=[,\]])", lambda found: hex(int(found.group()))),
            (r"(\d)\.0+e\+00(?=[>,\]])", lambda found: f"{found.group(1)}.0"),
            (r"(?<=[<\[ ])1\.0+e\+00(?=[>,\]])", lambda found: "0x3F800000"),
            (r"\btrue\b", lambda found: "1 : i1"),
            (r"(?<=\")[a-z](?=[^\"\n]*\"(?:[,}>]|$))", lambda found: f"\\{ord(found.group()):02X}"),
            # Types
            (rf"(?<=: ){_TYPE}$", lambda found: f"({found.group()}) -> {found.group()}"),
            (
                rf"(?<=: ){_TYPE}$",
                lambda found: f"({found.group()}, {found.group()}) -> {found.group()}",
            ),
            (rf"(?<=-> ){_TYPE}$", lambda found: f"({found.group()})"),
            (_TYPE, lambda found: self.alias(found.group(), "!")),
            # Locations
            (_END, lambda found: f"{found.group()}{self.place()}"),
            (rf"%[\w.$-]+: {_TYPE}(?=[,)])", lambda found: f"{found.group()}{self.place()}"),
            # Operations
            (
                r"(?<![.\w])(?:func\.)?return\b",
                lambda found: self.choose.choice(["func.return", "return"]),
            ),
            (r"@(\w+)", lambda found: f'@"{found.group(1)}"'),
            (
                r"\"stablehlo\.return\"\(([^()\n]*)\) : \((.*)\) -> \(\)",
                lambda found: "stablehlo.return {} : {}".format(*found.groups()),
            ),
            (
                rf"\"(stablehlo\.(?:add|multiply|maximum))\"\((.*)\) : \(({_TYPE}), .*$",
                lambda found: "{} {} : {}".format(*found.groups()),
            ),
            (r"%[A-Za-z]\w*|\^\w+", renamed),
            (_TOKEN, lambda found: f"{found.group()}{self.space()}"),
        ]
        for pattern, change in changes:
            if self.some(0.2):
                found = re.compile(pattern, re.M)
                text = (
                    found.sub(change, text)
                    if change is renamed
                    else self.at_some(found, change, text)
                )
        return text

    def at_some(
        self, pattern: re.Pattern[str], change: Callable[[re.Match[str]], str], text: str
    ) -> str:
        """The text with some of the places changed that a pattern finds, or all of them."""
        probability = self.choose.choice([0.2, 1.0])
        return pattern.sub(
            lambda found: change(found) if self.some(probability) else found.group(), text
        )


def is_dynamic(use: Use) -> bool:
    """Whether types of a use have unknown sizes."""
    return "dynamic" in use.name or any("?" in type_ for type_ in (*use.operands, *use.results))


def program(use: Use, choose: random.Random) -> str:
    """A module with one use of an operation, or with a change of it that jaxlib takes as well."""
    if choose.random() < 0.3 and not is_dynamic(use):
        changes = [
            change
            for label, change in changed_uses(use)
            if not ends_the_oracle(use.name, label) and not reasons(use.name, label)
        ]
        change = choose.choice(changes or [use])
        use = use if rejection(change.text()) is not None else change
    spelling = StableHloSpelling(choose)
    text = spelling.use(use)
    if spelling.some(0.6) and rejection(text) is None:
        text = printed(
            text,
            enable_debug_info=spelling.some(0.5),
            print_generic_op_form=spelling.some(0.3),
            use_local_scope=spelling.some(0.3),
        )
        if "#loc" in text:
            return text
    return spelling.with_aliases(spelling.respelled(text).rstrip())


_TYPE = r"tensor<(?:[^<>\"]|<(?:[^<>]|<[^<>]*>)*>)*>"
_ATTRIBUTE = r"#(?:stablehlo|chlo)(?:\.\w+)?<(?:[^<>]|<(?:[^<>]|<[^<>]*>)*>)*>"
_END = (
    r"^(?!.*\bloc\()(?: *(?:%\S+ = )?(?:\"?[a-z]+\.|return|call).*[^{(:,\n]"
    r"|\s*\}\)? : .*[^{\n]| *\})$"
)
"""The last line of an operation without a location."""
_TOKEN = (
    rf"{_TYPE}|dense<[^<>]*>|\"(?:[^\"\\]|\\.)*\"|@\"[^\"]*\"|[%@!#^][\w.$-]+|->|[\w.$]+|[^\s/]"
)
_HEAD = re.compile(r"(func\.func @main\(.*) \{$", re.M)
_MODULES = (
    "module",
    "builtin.module",
    "module @m",
    "module @m attributes {mhlo.num_partitions = 1 : i32}",
    "module attributes {a.mode = 1 : i32}",
)
