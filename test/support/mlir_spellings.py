"""What MLIR leaves free in a text: aliases, locations, attributes of no one, space between tokens."""

import random
from dataclasses import dataclass, field

_ENTRIES = ("note", "a.b = 1 : i32", 'mhlo.x = {y = "z"}', 'w = ["a", 2]', "sdy.more", '"q r" = 2')


@dataclass
class Spelling:
    """Chooses between spellings, and collects the aliases that it uses."""

    choose: random.Random
    aliases: list[str] = field(default_factory=list[str])
    places: list[str] = field(default_factory=list[str])

    def some(self, probability: float = 0.3) -> bool:
        return self.choose.random() < probability

    def space(self) -> str:
        """What may stand between two tokens."""
        return self.choose.choice(["", "", "", " ", "  ", " // a comment\n  "])

    def alias(self, value: str, sigil: str = "#") -> str:
        """An alias of an attribute or a type, which MLIR wants defined before."""
        name = f"{sigil}a{len(self.aliases)}"
        self.aliases.append(f"{name} = {value}")
        return name

    def place(self) -> str:
        """A location, if any: with aliases, which may be defined behind."""
        if not self.some():
            return ""
        known = ['"f.py":1:2', '"f.py":1:2 to :7', '"f.py":3:4 to 5:6', "unknown", '"name"']
        made, has_aliases = self.choose.choice(known), self.some(0.5)
        for _ in range(self.choose.randrange(3)):
            inner = self.place_alias(made) if has_aliases else made
            forms = [
                f'"outer"({inner})',
                f'callsite({inner} at "g.py":1:1)',
                f'fused[{inner}, "b"]',
                f'fused<"why">[{inner}]',
                f'fused<#llvm.di_file<"f" in "d">>[{inner}]',
            ]
            made = self.choose.choice(forms)
        return f" loc({self.place_alias(made) if has_aliases else made})"

    def place_alias(self, value: str) -> str:
        """An alias of a location; an operation may have one that is defined behind it."""
        name = f"#loc{len(self.places)}"
        self.places.append(f"{name} = loc({value})")
        return name

    def entries(self) -> str:
        """Attributes that no operation knows, if any."""
        if not self.some():
            return ""
        return ", ".join(self.choose.sample(_ENTRIES, self.choose.randint(1, 2)))

    def dictionary(self) -> str:
        """`entries` in braces, if any."""
        entries = self.entries()
        return f" {{{entries}}}" if entries else ""

    def with_aliases(self, text: str) -> str:
        """The text with the definitions of all aliases; those of locations before or behind."""
        count = self.choose.randint(0, len(self.places))
        before, behind = self.places[:count], self.places[count:]
        return "\n".join([*self.aliases, *before, text, *behind, ""])
