"""Deep, long and doubling texts: one located error, soon, and nothing of a declared size is made."""

import random
import re
import resource
import time
from pathlib import Path

import pytest

from tools import xla_opt
from xla_dialect.diagnostics import LocatedError
from xla_dialect.mlir_text import print_mlir
from xla_dialect.stablehlo import read_stablehlo

N = 100_000
HEAD = "func.func @main(%a: tensor<2xf32>) {\n  "
IOTA = f"{HEAD}%0 = stablehlo.iota dim = 0 : "
NEGATE = f"{HEAD}%0 = stablehlo.negate %a "

DEEP = {
    "operation": HEAD + "(" * N,
    "tuple types": f"{IOTA}{'tuple<' * N}i32{'>' * N}",
    "tensor types": IOTA + "tensor<" * N,
    "function types": IOTA + "(" * N,
    "complex types": f"{IOTA}tensor<{'complex<' * N}",
    "lists": f"{NEGATE}{{x = {'[' * N}{']' * N}}} : tensor<2xf32>",
    "dictionaries": f"{NEGATE}{{{'x = {' * N}{'}' * N}}} : tensor<2xf32>",
    "foreign attributes": f"{NEGATE}{{x = #foo<{'[<{(' * N}}} : tensor<2xf32>",
    "module attributes": f"module attributes {{x = {'[' * N}{']' * N}}} {{}}",
    "modules": "module {\n" * N,
    "regions": HEAD + '"stablehlo.case"(%a) ({\n' * N,
    "literals": f"{HEAD}%0 = stablehlo.constant dense<{'[' * N}1.0{']' * N}> : tensor<1xf32>",
    "named locations": NEGATE + ": tensor<2xf32> loc(" + '"a"(' * N,
    "fused locations": f"{NEGATE}: tensor<2xf32> loc({'fused[' * N}",
    "shardings": f"{HEAD}%0 = sdy.reshard %a {'<' * N}",
}


@pytest.mark.parametrize("text", DEEP.values(), ids=DEEP.keys())
def test_deep_nesting(text: str):
    start = time.process_time()
    with pytest.raises(LocatedError, match=r"^f.mlir:\d+:\d+: error: "):
        read_stablehlo(text, "f.mlir")
    assert time.process_time() - start < 5


def doubling(left: str, right: str, count: int) -> str:
    """Aliases that stand for twice the one before."""
    lines = [f"{left}1 = {right.replace('$', 'i32' if left == '!t' else '0 : i32')}"]
    lines += [f"{left}{i + 1} = {right.replace('$', f'{left}{i}')}" for i in range(1, count)]
    return "\n".join(lines)


LONG = {
    "dimensions": (f"{IOTA}tensor<{'1x' * N}f32>", "more than 256 dimensions"),
    "numbers": (f"{HEAD}%0 = stablehlo.iota dim = {'9' * N} : tensor<4xf32>", "digits"),
    "digits of a size": (f"{IOTA}tensor<{'9' * N}xf32>", ""),
    "types": (doubling("!t", "tuple<$, $>", 60), "stands for more than 65536 characters"),
    "attributes": (doubling("#a", "[$, $]", 60), "stands for more than 65536 characters"),
    "locations": (
        "#loc1 = loc(unknown)\n"
        + "".join(f"#loc{i + 1} = loc(fused[#loc{i}, #loc{i}])\n" for i in range(1, 60)),
        "stands for more than 65536 characters",
    ),
    "locations in a circle": (
        f"#loc1 = loc(#loc2)\n#loc2 = loc(#loc1)\n{NEGATE}: tensor<2xf32> loc(#loc1)",
        "undefined alias",
    ),
    "groups": (
        f'{HEAD}%0 = "stablehlo.collective_broadcast"(%a) <{{replica_groups = dense<0> : '
        "tensor<99999999x99999999xi64>}> : (tensor<2xf32>) -> tensor<2xf32>\nreturn\n}",
        "replica_groups has more than 65536 numbers",
    ),
    "a literal for a large type": (
        f"{HEAD}%0 = stablehlo.constant dense<[0.0]> : tensor<536870912xf32>",
        "has 536870912 elements, the literal has 1",
    ),
}


@pytest.mark.parametrize(("text", "message"), LONG.values(), ids=LONG.keys())
def test_long_texts(text: str, message: str):
    start = time.process_time()
    with pytest.raises(LocatedError, match=r"^f.mlir:\d+:\d+: error: ") as caught:
        read_stablehlo(text, "f.mlir")
    assert message in str(caught.value)
    assert time.process_time() - start < 5


@pytest.mark.parametrize(
    "type_", ["tensor<536870912xf32>", "tensor<9223372036854775807xi1>", "tensor<0x5xf32>"]
)
def test_splats_stay_splats(type_: str):
    element = "true" if "i1" in type_ else "0.0"
    text = (
        f"func.func @main() -> {type_} {{\n"
        f"%0 = stablehlo.constant dense<{element}> : {type_}\nreturn %0 : {type_}\n}}"
    )
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    module = read_stablehlo(text)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 10_000  # KiB
    assert type_ in print_mlir(module)


def test_a_large_size_that_is_computed():
    text = (
        "func.func @main() -> tensor<?xi32> {\n"
        "%0 = stablehlo.constant dense<2000000000> : tensor<1xi32>\n"
        "%1 = stablehlo.dynamic_iota %0, dim = 0 : (tensor<1xi32>) -> tensor<?xi32>\n"
        "return %1 : tensor<?xi32>\n}"
    )
    assert "xla.iota {iota_dimension = 0} : tensor<2000000000xi32>" in str(read_stablehlo(text))


def test_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    file = tmp_path / "deep.mlir"
    file.write_text(DEEP["lists"])
    assert xla_opt.main([str(file)]) == 1
    message = capsys.readouterr().err
    assert message.startswith(f"{file}:2:")
    assert "Traceback" not in message


PROGRAMS = sorted((Path(__file__).parents[1] / "programs").glob("*.mlir"))
DYNAMIC = Path(__file__).with_name("dynamic.mlir")


@pytest.mark.parametrize("path", [*PROGRAMS[:2], DYNAMIC], ids=lambda path: path.name)
def test_mutations(path: Path):
    """Characters replaced, removed, repeated, and lines swapped: read, or one located error."""
    generator = random.Random(path.name)
    text = path.read_text()[:6000]
    for _ in range(40):
        characters = list(text)
        for _ in range(generator.choice((1, 1, 2, 5))):
            place = generator.randrange(len(characters))
            characters[place] = generator.choice(
                ("", characters[place] * 2, generator.choice('()[]{}<>%#@"?,:=-x01 \n\x00é'))
            )
        mutated = "".join(characters)[
            : generator.choice((len(text), generator.randrange(len(text))))
        ]
        try:
            read_stablehlo(mutated, "f.mlir")
        except LocatedError as error:
            message = str(error)
        else:
            continue
        assert re.match(r"f\.mlir:\d+:\d+: error: .", message), message
