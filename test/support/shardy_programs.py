"""Random uses of Shardy's collectives, right ones and wrong ones, as programs of one operation."""

import random
from collections.abc import Iterator, Sequence

MESHES = """sdy.mesh @mesh = <["x"=2, "y"=4, "z"=2]>
sdy.mesh @turned = <["x"=2, "y"=4, "z"=2], device_ids=[1, 0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]>
"""
PARTS = ('"x"', '"y":(1)2', '"y":(2)2', '"z"')
"""What dimensions are split over, in the order of the mesh: both parts of "y" are "y"."""
RANK = 2

Axes = tuple[str, ...]


def merged(parts: Sequence[str]) -> Axes:
    """Parts that follow each other as one axis."""
    found: list[str] = []
    for part in parts:
        if part == PARTS[2] and found and found[-1] == PARTS[1]:
            found[-1] = '"y"'
        else:
            found.append(part)
    return tuple(found)


def braces(parts: Sequence[str]) -> str:
    """`{"x", "y"}`"""
    return f"{{{', '.join(merged(parts))}}}"


def in_order(parts: Sequence[str]) -> list[str]:
    """A set of parts as Shardy writes it."""
    return sorted(parts, key=PARTS.index)


def lists(dimensions: Sequence[Sequence[str]]) -> str:
    """`[{"x"}, {}]`"""
    return f"[{', '.join(map(braces, dimensions))}]"


class Use:
    """A use that is right by construction, or has had something changed."""

    def __init__(self, choose: random.Random):
        self.choose = choose
        parts = list(PARTS)
        choose.shuffle(parts)
        self.dimensions: list[list[str]] = [[], []]
        self.replicated: list[str] = []
        self.unreduced: list[str] = []
        self.free: list[str] = []
        for part in parts:
            places = (*self.dimensions, self.replicated, self.unreduced, self.free)
            choose.choices(places, (3, 3, 1, 1, 3))[0].append(part)

    def changed(self, lists_: list[list[str]]) -> list[list[str]]:
        """Perhaps with an axis more, less, elsewhere or that is none."""
        found = [list(each) for each in lists_]
        if self.choose.random() < 0.6 or not found:
            return found
        place = self.choose.randrange(len(found))
        match self.choose.randrange(5):
            case 0:
                found[place].append(
                    self.choose.choice((*PARTS, '"y"', '"q"', '"y":(1)3', '"x":(1)2'))
                )
            case 1 if found[place]:
                found[place].pop(self.choose.randrange(len(found[place])))
            case 2:
                found.reverse()
            case 3:
                found.append([])
            case _:
                found[place].reverse()
        return found

    def sharding(
        self, dimensions: list[list[str]], replicated: Sequence[str], unreduced: Sequence[str]
    ) -> str:
        """`<@mesh, [{"x"}, {}], unreduced={"z"}>`"""
        mesh = self.choose.choices(("@mesh", "@turned", "@lost"), (40, 1, 1))[0]
        text = lists(self.changed(dimensions))
        for name, axes in (("replicated", replicated), ("unreduced", unreduced)):
            (found,) = self.changed([in_order(axes)])[:1]
            if found:
                text += f", {name}={braces(found)}"
        return f"<{mesh}, {text}>"

    def removed(self) -> tuple[list[list[str]], list[list[str]]]:
        """Axes at the ends of dimensions, and the dimensions without them."""
        counts = [self.choose.randint(0, len(each)) for each in self.dimensions]
        pairs = list(zip(self.dimensions, counts, strict=True))
        return [each[n:] for each, n in pairs], [each[:n] for each, n in pairs]

    def added(self, parts: Sequence[str]) -> tuple[list[list[str]], list[list[str]]]:
        """Some of the parts for each dimension, and the dimensions with them."""
        new: list[list[str]] = [[], []]
        for part in parts:
            place = self.choose.randrange(3)
            if place < RANK:
                new[place].append(part)
        return new, [old + more for old, more in zip(self.dimensions, new, strict=True)]

    def operation(self, name: str) -> tuple[str, str]:
        """What stands before the operand, and the sharding of the result."""
        replicated, unreduced = self.replicated, self.unreduced
        match name:
            case "all_gather" | "sharded_to_unreduced":
                axes, left = self.removed()
                if name == "sharded_to_unreduced":
                    unreduced = unreduced + axes[0] + axes[1]
                return lists(self.changed(axes)), self.sharding(left, replicated, unreduced)
            case "all_slice" | "reduce_scatter":
                axes, more = self.added(self.free + self.unreduced)
                unreduced = [part for part in unreduced if part not in axes[0] + axes[1]]
                return lists(self.changed(axes)), self.sharding(more, replicated, unreduced)
            case "all_reduce":
                chosen = [p for p in self.free + unreduced if self.choose.random() < 0.5]
                unreduced = [part for part in unreduced if part not in chosen]
                (axes,) = self.changed([in_order(chosen)])[:1]
                return braces(axes), self.sharding(self.dimensions, replicated, unreduced)
            case "replicated_to_unreduced":
                chosen = [p for p in self.free + replicated if self.choose.random() < 0.5]
                replicated = [part for part in replicated if part not in chosen]
                (axes,) = self.changed([in_order(chosen)])[:1]
                unreduced = unreduced + chosen
                return braces(axes), self.sharding(self.dimensions, replicated, unreduced)
            case "all_to_all":
                source = self.choose.randrange(RANK)
                axes, left = self.removed()
                moved = axes[source] or ['"x"']
                dimensions = list(self.dimensions)
                dimensions[source] = left[source]
                dimensions[1 - source] = dimensions[1 - source] + axes[source]
                (moved,) = self.changed([moved])[:1]
                target = self.choose.choices((1 - source, source, 2), (30, 1, 1))[0]
                text = f"[{braces(moved)}: {source}->{target}]"
                return text, self.sharding(dimensions, replicated, unreduced)
            case "collective_permute":
                parts = [*self.dimensions[0], *self.dimensions[1], *self.free]
                self.choose.shuffle(parts)
                first = len(self.dimensions[0])
                second = first + len(self.dimensions[1])
                permuted = [parts[:first], parts[first:second]]
                return "", self.sharding(permuted, replicated, unreduced)
            case _:
                return "", self.sharding(self.dimensions, replicated, unreduced)

    def program(self, name: str) -> str:
        """A function with this operation on its parameter, of which a sharding may be said."""
        said = ""
        if self.choose.random() < 0.95:
            mine = self.sharding(self.dimensions, self.replicated, self.unreduced)
            said = f" {{sdy.sharding = #sdy.sharding{mine}}}"
        before, result = self.operation(name)
        keyword = "" if name in ("reshard", "sharding_constraint") else "out_sharding="
        return (
            f"{MESHES}func.func @main(%a: tensor<32x32xf32>{said}) -> tensor<32x32xf32> {{\n"
            f"  %0 = sdy.{name} {before} %a {keyword}{result} : tensor<32x32xf32>\n"
            "  return %0 : tensor<32x32xf32>\n}\n"
        )


OPERATIONS = (
    *("all_gather", "all_slice", "all_to_all", "all_reduce", "reduce_scatter"),
    *("collective_permute", "sharded_to_unreduced", "replicated_to_unreduced"),
    *("reshard", "sharding_constraint"),
)


def uses(name: str, count: int, seed: int = 0) -> Iterator[str]:
    """Programs with uses of one operation."""
    choose = random.Random(f"{name}{seed}")
    for _ in range(count):
        yield Use(choose).program(name)
