"""The pass `lift-cf-to-scf` on graphs of blocks that are drawn."""

import random

import numpy as np
import pytest

from lowerings.backends import Options
from lowerings.compilation import compile_module
from lowerings.driver.context import make_context
from lowerings.driver.pass_manager import PassManager, parse_passes
from lowerings.driver.program import load_program

FUELS = (1, 4, 30)
VALUES = (1, 2, 9)


def drawn_edges(rng: random.Random, count: int) -> list[list[int]]:
    """
    Where each of so many blocks goes; block `count` is where the function ends. Only the last edge
    of more than two may go back, and is not taken once there is no fuel.
    """
    edges: list[list[int]] = []
    for block in range(count):
        ahead = range(block + 1, count + 1)
        forward = [rng.choice(ahead) for _ in range(rng.choice((1, 2)))]
        back = [rng.randrange(1, count + 1) for _ in range(rng.randrange(1, 4))]
        edges.append(forward[:1] + back if count > 1 and rng.random() < 0.4 else forward)
    return edges


def dominating(edges: list[list[int]]) -> dict[int, set[int]]:
    """For each block that is reached the blocks on all ways to it, by going without each one."""

    def reached(without: int | None) -> set[int]:
        found, waiting = set[int](), [0]
        while waiting:
            block = waiting.pop()
            if block != without and block not in found:
                found.add(block)
                waiting.extend(edges[block] if block < len(edges) else ())
        return found

    everything = reached(None)
    on_the_way = {block: everything - reached(block) for block in everything}
    return {
        block: {other for other in everything if block in on_the_way[other]} for block in everything
    }


def drawn_program(rng: random.Random) -> str:
    """
    A function of blocks with fuel, a number and an array, which use what dominates them. Each block
    takes an argument for each, but some that only one edge goes to.
    """
    count = rng.randrange(2, 9)
    edges = drawn_edges(rng, count)
    above = dominating(edges)
    ways = [to for block, after in enumerate(edges) for to in after if block in above]
    takes = {b: 0 < b and (b == count or ways.count(b) > 1 or rng.random() < 0.6) for b in above}
    lines = [
        "#id = affine_map<(d0) -> (d0)>",
        "func.func @main(%f: i32, %v: i32, %t: tensor<3xi32>) -> (i32, tensor<3xi32>) {",
        *(f"  %c{number} = arith.constant {number} : i32" for number in range(8)),
    ]
    for block in sorted(above):
        nearest = sorted(above[block] - {block}, key=lambda each: len(above[each]))
        fuel, value, array = "%f", "%v", "%t"
        if takes[block]:
            fuel, value, array = f"%fa{block}", f"%va{block}", f"%ta{block}"
            lines.append(f"^b{block}({fuel}: i32, {value}: i32, {array}: tensor<3xi32>):")
        elif block:
            lines.append(f"^b{block}:")
            fuel = f"%f{nearest[-1]}"
            value, array = (f"%{kind}{rng.choice(nearest)}" for kind in "vt")
        if block == count:
            lines.append(f"  func.return {value}, {array} : i32, tensor<3xi32>")
            continue
        other = rng.choice(nearest) if nearest else None
        lines += computed(block, fuel, value, array, other)
        lines += branch(rng, block, edges[block], takes)
    return "\n".join([*lines, "}"])


def computed(block: int, fuel: str, value: str, array: str, other: int | None) -> list[str]:
    others = ("%v", "%t") if other is None else (f"%v{other}", f"%t{other}")
    return [
        f"  %f{block} = arith.subi {fuel}, %c1 : i32",
        f"  %p{block} = arith.muli {value}, %c3 : i32",
        f"  %q{block} = arith.addi %p{block}, {others[0]} : i32",
        f"  %v{block} = arith.addi %q{block}, %c7 : i32",
        f"  %e{block} = tensor.empty() : tensor<3xi32>",
        f"  %t{block} = linalg.generic {{indexing_maps = [#id, #id, #id], "
        f'iterator_types = ["parallel"]}} ins({array}, {others[1]} : tensor<3xi32>, '
        f"tensor<3xi32>) outs(%e{block} : tensor<3xi32>) {{",
        "  ^bb0(%x: i32, %y: i32, %z: i32):",
        "    %a = arith.muli %x, %c3 : i32",
        "    %b = arith.addi %a, %y : i32",
        f"    %c = arith.xori %b, %v{block} : i32",
        "    linalg.yield %c : i32",
        "  } -> tensor<3xi32>",
    ]


def branch(rng: random.Random, block: int, after: list[int], takes: dict[int, bool]) -> list[str]:
    def target(to: int) -> str:
        operands = f"(%f{block}, %v{block}, %t{block} : i32, i32, tensor<3xi32>)"
        if rng.random() < 0.3:
            operands = operands.replace(f"%v{block}", f"%p{block}")
        return f"^b{to}{operands if takes[to] else ''}"

    forward, *rest = after
    if not rest:
        return [f"  cf.br {target(forward)}"]
    if len(rest) == 1 and rest[0] > block:
        return [
            f"  %h{block} = arith.trunci %v{block} : i32 to i1",
            f"  cf.cond_br %h{block}, {target(forward)}, {target(rest[0])}",
        ]
    cases = ", ".join(f"{number}: {target(to)}" for number, to in enumerate(rest))
    return [
        f"  %r{block} = arith.remui %v{block}, %c{len(rest)} : i32",
        f"  %l{block} = arith.cmpi sle, %f{block}, %c0 : i32",
        f"  %s{block} = arith.select %l{block}, %c{len(rest)}, %r{block} : i32",
        f"  cf.switch %s{block} : i32, [ default: {target(forward)}, {cases} ]",
    ]


@pytest.mark.parametrize("seed", range(24))
def test_the_same_is_computed(seed: int) -> None:
    """Blocks as the interpreter goes through them, structured ones, and these as machine code."""
    module = load_program(drawn_program(random.Random(seed)), "mlir")
    structured = module.clone()
    PassManager(make_context()).run(structured, parse_passes("lift-cf-to-scf"))
    blocks = compile_module(module.clone(), Options(backend="interpreter"))
    programs = [compile_module(structured, Options(backend="interpreter"))]
    if seed % 8 == 0:
        programs.append(compile_module(module))
    for fuel in FUELS:
        for value in VALUES:
            arguments = np.int32(fuel), np.int32(value), np.arange(3, dtype=np.int32)
            expected = blocks(*arguments)
            for program in programs:
                for result, wanted in zip(program(*arguments), expected, strict=True):
                    np.testing.assert_array_equal(result, wanted)


def test_what_is_drawn_has_loops_with_several_entries() -> None:
    texts: list[str] = []
    for seed in range(24):
        module = load_program(drawn_program(random.Random(seed)), "mlir")
        PassManager(make_context()).run(module, parse_passes("lift-cf-to-scf"))
        texts.append(str(module))
    assert sum("scf.while" in text for text in texts) >= 6
    assert sum("= scf.while (%" in text and "(i1, i32" in text for text in texts) >= 1
