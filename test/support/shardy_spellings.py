"""Random programs of one operation of Shardy each, in every spelling that MLIR leaves free."""

import random
from collections.abc import Callable, Sequence

from mlir_spellings import Spelling

TYPE, PART = "tensor<8x8xf32>", "tensor<4x8xf32>"
HEAD = 'sdy.mesh @mesh = <["x"=2, "y"=4, "z"=2]>\n'


class ShardySpelling(Spelling):
    """Spells what Shardy has."""

    # Attributes

    def attribute(self, name: str, content: str) -> str:
        """An attribute where any may stand."""
        mnemonic = name.removeprefix("sdy.")
        forms = [f"#sdy<{mnemonic}{self.space()}{content}>"]
        if content.startswith("<"):
            forms += [f"#sdy.{mnemonic}{content}"] * 3
        found = self.choose.choice(forms)
        return self.alias(found) if self.some() else found

    def element(self, name: str, content: str) -> str:
        """One among others of its kind: mostly without its name."""
        return self.attribute(name, content) if self.some(0.15) else content

    def listed(self, items: Sequence[str], brackets: str) -> str:
        """`[a, b]` with space between."""
        separator = f"{self.space()},{self.space()}"
        opening, closing = brackets
        return f"{opening}{self.space()}{separator.join(items)}{self.space()}{closing}"

    def axis(self, text: str) -> str:
        """`"x"` or `"y":(1)2`"""
        name, _, part = text.partition(":")
        if not part:
            return f'"{name}"'
        before, size = part.split("*")
        return f'"{name}"{self.space()}:{self.space()}({before}){self.space()}{size}'

    def axes(self, names: Sequence[str]) -> str:
        """`{"x", "y"}`"""
        return self.listed(list(map(self.axis, names)), "{}")

    def sharding(self, text: str, *, by_name: bool = False) -> str:
        """`x y|z` as `<@mesh, [{"x", "y"}, {"z"}]>`; `?` is open, `!` begins what is unreduced."""
        text, _, unreduced = text.partition("!")
        dimensions: list[str] = []
        for each in text.split("|"):
            words = each.split()
            axes = [self.axis(word) if word != "?" else "?" for word in words]
            priority = (
                f"{self.space()}p{self.choose.randrange(3)}"
                if words and not by_name and self.some()
                else ""
            )
            content = f"{self.listed(axes, '{}')}{priority}"
            dimensions.append(self.element("sdy.dimension_sharding", content))
        meshes = ["@mesh", '@"mesh"', 'mesh<["x"=2, "y"=4, "z"=2]>']
        mesh = self.choose.choice(meshes[: 2 if by_name else 3])
        rest = f", unreduced={self.axes(unreduced.split())}" if unreduced else ""
        return f"<{mesh},{self.space()}{self.listed(dimensions, '[]')}{rest}>"

    def shardings(self, texts: Sequence[str]) -> str:
        """`[<@mesh, ...>, ...]`"""
        found = [self.sharding(text, by_name=True) for text in texts]
        return self.listed([self.element("sdy.sharding", each) for each in found], "[]")

    def axis_lists(self, text: str) -> str:
        """`x|` as `[{"x"}, {}]`"""
        lists = (self.axes(each.split()) for each in text.split("|"))
        return self.listed([self.element("sdy.axis_ref_list", each) for each in lists], "[]")

    def moves(self, text: str) -> str:
        """`x:0>1` as `[{"x"}: 0->1]`"""
        found: list[str] = []
        for each in text.split(","):
            axes, dimensions = each.split(":")
            source, target = dimensions.split(">")
            content = f"{self.axes(axes.split())}{self.space()}: {source} -> {target}"
            found.append(self.element("sdy.all_to_all_param", content))
        return self.listed(found, "[]")

    # Operations

    def operation(
        self,
        name: str,
        custom: str,
        properties: Sequence[tuple[str, str]],
        is_result: bool = True,
    ) -> str:
        """An operation on `%a` in its custom form, or in the generic one."""
        left = "%r = " if is_result else ""
        if self.some(0.5):
            return f"{left}sdy.{name} {custom}{self.dictionary()} : {TYPE}{self.place()}"
        return f"{left}{self.generic(name, properties, is_result=is_result)}{self.place()}"

    def generic(
        self,
        name: str,
        properties: Sequence[tuple[str, str]],
        body: str = "",
        is_result: bool = True,
    ) -> str:
        """The generic form."""
        given = [f"{key} = {value}" for key, value in properties]
        self.choose.shuffle(given)
        in_properties, listed = self.some(0.6), ", ".join(given)
        before = f" <{{{listed}}}>" if in_properties and given else ""
        rest = self.dictionary()
        if not in_properties and given:
            rest = f" {{{listed}{', ' if rest else ''}{rest[2:-1]}}}"
        results = TYPE if is_result else "()"
        return f'"sdy.{name}"(%a){before}{body}{rest} : ({TYPE}) -> {results}'

    def computation(
        self, name: str, custom: str, properties: Sequence[tuple[str, str]], count: int
    ) -> str:
        """A computation that gives its arguments back, `%a` so many times."""
        inside = PART if name == "manual_computation" else TYPE
        names = [f"%b{number}" for number in range(count)]
        arguments = ", ".join(f"{each}: {inside}{self.place()}" for each in names)
        types = ", ".join([inside] * count)
        values = f" {', '.join(names)} : {types}" if count else ""
        outside = ", ".join([TYPE] * count)
        given = f"({outside}) -> {outside if count == 1 else f'({outside})'}"
        operands = f"({', '.join(['%a'] * count)})"
        left = {0: "", 1: "%r = "}.get(count, f"%r:{count} = ")
        if self.some(0.5):
            end = f"sdy.return{self.dictionary()}{values}{self.place()}"
            head = custom.replace("(%a)", operands)
            return (
                f"{left}sdy.{name}{head} ({arguments}) {{\n{end}\n}}{self.dictionary()} : "
                f"{given}{self.place()}"
            )
        end = f"sdy.return{values}"
        if self.some():
            end = f'"sdy.return"({", ".join(names)}) : ({types}) -> ()'
        label = f"^bb0({arguments}):" if count or self.some() else ""
        body = f" ({{\n{label}\n{end}{self.place()}\n}})"
        made = self.generic(name, properties, body)
        made = made.replace("(%a)", operands).replace(f"({TYPE}) -> {TYPE}", given)
        return f"{left}{made}{self.place()}"

    def annotation(self, name: str) -> str:
        """A constraint or a reshard."""
        said = self.sharding(self.choose.choice(["x|", "x y|?", "?|z ?", "y:1*2|y:2*2", "|"]))
        attribute = self.attribute("sdy.sharding", said)
        return self.operation(name, f"%a {said}", [("sharding", attribute)])

    def collective(
        self, name: str, kind: str, key: str, read: Callable[[str], str], axes: str, result: str
    ) -> str:
        """A collective; its attributes may be aliases in the custom form, too."""
        content, said = read(axes), self.sharding(result, by_name=True)
        named, out = self.attribute(kind, content), self.attribute("sdy.sharding", said)
        shown = [
            alias if alias.startswith("#a") and self.some(0.5) else bare
            for alias, bare in ((named, content), (out, said))
        ]
        custom = f"{shown[0]} %a out_sharding={shown[1]}"
        return self.operation(name, custom, [(key, named), ("out_sharding", out)])


def _manual(s: ShardySpelling) -> str:
    count = s.choose.randrange(3)
    lists = [s.shardings(["x|"] * count), s.shardings(["x|"] * count)]
    axes = s.axes(["x"])
    named = s.attribute("sdy.manual_axes", axes)
    custom = (
        f"(%a) in_shardings={lists[0]} out_shardings={lists[1]} "
        f"manual_axes={named if named.startswith('#a') else axes}"
    )
    values = [s.attribute("sdy.sharding_per_value", f"<{each}>") for each in lists]
    names = ("in_shardings", "out_shardings", "manual_axes")
    return s.computation(
        "manual_computation", custom, list(zip(names, [*values, named], strict=True)), count
    )


def _named(s: ShardySpelling) -> str:
    shown, properties, count = "", [("name", '"f g"')], s.choose.randrange(3)
    for name in ("in_shardings", "out_shardings"):
        if s.some(0.5):
            found = s.shardings(["x|"] * count)
            shown += f" {name}={found}"
            properties.append((name, s.attribute("sdy.sharding_per_value", f"<{found}>")))
    return s.computation("named_computation", f'<"f g">(%a){shown}', properties, count)


def _edge(s: ShardySpelling) -> str:
    said = s.sharding("x|?")
    if s.some(0.4):
        return s.operation("data_flow_edge", "%a", [])
    attribute = s.attribute("sdy.sharding", said)
    return s.operation("data_flow_edge", f"%a sharding={said}", [("sharding", attribute)])


def _barrier(s: ShardySpelling) -> str:
    number = s.choose.randrange(3)
    word = ("NONE", "FORWARD", "BACKWARD")[number]
    custom = f"%a allowed_direction{s.space()}={s.space()}{word}"
    return s.operation("propagation_barrier", custom, [("allowed_direction", f"{number} : i32")])


def _permute(s: ShardySpelling) -> str:
    said = s.sharding("z|", by_name=True)
    properties = [("out_sharding", s.attribute("sdy.sharding", said))]
    return s.operation("collective_permute", f"%a out_sharding={said}", properties)


def _group(s: ShardySpelling) -> str:
    number = s.choose.randint(-2, 9)
    properties = [("group_id", f"{number} : i64")]
    return s.operation("sharding_group", f"%a group_id={number}", properties, is_result=False)


def _mesh(s: ShardySpelling) -> str:
    """Its operation is beside functions; `%r` is not defined."""
    ids = ", device_ids=[3, 2, 1, 0, 7, 6, 5, 4]" if s.some() else ""
    axes = [f'"{name}"{s.space()}={s.space()}{size}' for name, size in (("a", 2), ("b", 4))]
    content = f"<{s.listed(axes, '[]')}{ids}>"
    attribute = s.attribute("sdy.mesh", content)
    if s.some(0.5):
        shown = s.choose.choice([content, attribute])
        name = s.choose.choice(["@m", '@"m 2"'])
        return f"sdy.mesh {name} = {shown}{s.entries()}{s.place()}"
    return f'"sdy.mesh"() <{{mesh = {attribute}, sym_name = "m"}}> : () -> (){s.place()}'


def _constant(s: ShardySpelling) -> str:
    if s.some(0.5):
        return f"%r = sdy.constant{s.entries()} dense<2.0> : {TYPE}{s.place()}"
    return f'%r = "sdy.constant"() <{{value = dense<2.0> : {TYPE}}}> : () -> {TYPE}{s.place()}'


def _attributes(s: ShardySpelling) -> str:
    rules = [
        "<([i, j])->([i, j]) {i=8, j=8}>",
        "<([ij, k])->([ij, k]) {i=2, j=4, k=8} reduction={} permutation={i}, custom>",
        "<([i, j])->([i, j]) {i=8, j=8} need_replication={i} blocked_propagation={j}>",
    ]
    entries = {
        "sdy.sharding_rule": s.attribute("sdy.op_sharding_rule", s.choose.choice(rules)),
        "sdy.sharding": s.attribute("sdy.sharding_per_value", f"<{s.shardings(['x ?|y'])}>"),
        "a.axis": s.attribute("sdy.axis_ref", s.axis("y:2*2")),
        "a.axes": s.attribute("sdy.manual_axes", s.axes(["x", "y"])),
        "a.part": "#sdy<sub_axis_info(1)2>",
        "a.size": '#sdy<mesh_axis"x"=2>',
        "a.foreign": '#llvm.di_file<"f" in "d">',
    }
    chosen = s.choose.sample(sorted(entries), s.choose.randint(1, 7))
    shown = ", ".join(f"{name} = {entries[name]}" for name in chosen)
    return f"%r = stablehlo.negate %a {{{shown}}} : {TYPE}{s.place()}"


OPERATIONS: dict[str, tuple[str, Callable[[ShardySpelling], str]]] = {
    "mesh": ("x|", _mesh),
    "constant": ("x|", _constant),
    "attributes": ("x|", _attributes),
    "sharding_constraint": ("x|", lambda s: s.annotation("sharding_constraint")),
    "reshard": ("x|", lambda s: s.annotation("reshard")),
    "data_flow_edge": ("x|", _edge),
    "func_data_flow_edge": ("x|", lambda s: s.operation("func_data_flow_edge", "%a", [])),
    "propagation_barrier": ("x|", _barrier),
    "sharding_group": ("x|", _group),
    "manual_computation": ("x|", _manual),
    "named_computation": ("x|", _named),
    "all_gather": (
        "x y|z",
        lambda s: s.collective(
            "all_gather", "sdy.list_of_axis_ref_lists", "gathering_axes", s.axis_lists, "y|", "x|z"
        ),
    ),
    "all_slice": (
        "x|",
        lambda s: s.collective(
            "all_slice",
            "sdy.list_of_axis_ref_lists",
            "slicing_axes",
            s.axis_lists,
            "y:1*2|z",
            "x y:1*2|z",
        ),
    ),
    "all_to_all": (
        "x y|",
        lambda s: s.collective(
            "all_to_all", "sdy.all_to_all_param_list", "params", s.moves, "y:0>1", "x|y"
        ),
    ),
    "collective_permute": ("x|", _permute),
    "all_reduce": (
        "x|",
        lambda s: s.collective(
            "all_reduce",
            "sdy.axis_ref_list",
            "reduction_axes",
            lambda t: s.axes(t.split()),
            "y z",
            "x|",
        ),
    ),
    "reduce_scatter": (
        "x|",
        lambda s: s.collective(
            "reduce_scatter",
            "sdy.list_of_axis_ref_lists",
            "reduce_scatter_axes",
            s.axis_lists,
            "y|",
            "x y|",
        ),
    ),
    "sharded_to_unreduced": (
        "x|z",
        lambda s: s.collective(
            "sharded_to_unreduced", "sdy.list_of_axis_ref_lists", "axes", s.axis_lists, "x|", "|z!x"
        ),
    ),
    "replicated_to_unreduced": (
        "x|",
        lambda s: s.collective(
            "replicated_to_unreduced",
            "sdy.axis_ref_list",
            "axes",
            lambda t: s.axes(t.split()),
            "z",
            "x|!z",
        ),
    ),
}
"""By the name of an operation, the sharding of its operand, and what writes it."""


def program(name: str, choose: random.Random) -> str:
    """A module with one operation, of which everything else is right."""
    spelling = ShardySpelling(choose)
    operand, write = OPERATIONS[name]
    said = spelling.attribute("sdy.sharding", spelling.sharding(operand, by_name=True))
    made = write(spelling)
    beside = f"{made}\n" if name == "mesh" else ""
    given = "%r" if made.startswith("%r = ") else "%r#1" if made.startswith("%r:2") else "%a"
    result = f"({TYPE} {{sdy.sharding = {said}}})" if spelling.some() else TYPE
    head = f"func.func @main(%a: {TYPE} {{sdy.sharding = {said}}}{spelling.place()}) -> {result}"
    lines = [] if beside else [made]
    body = "\n".join([*lines, f"return {given} : {TYPE}{spelling.place()}"])
    text = f"{HEAD}{beside}{head} {{\n{body}\n}}{spelling.place()}"
    return spelling.with_aliases(text)
