"""MLIR bytecode and portable artifacts that jaxlib writes are read as the text of the program."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from stablehlo_oracle import artifact_of, bytecode_of, text_of_artifact, vhlo_of
from sweeps import each_or_full
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from lowerings.driver.program import load_program, parse_program
from xla_dialect.binary import BinaryError, VhloParser, read_binary
from xla_dialect.diagnostics import LocatedError, XlaError
from xla_dialect.mlir_text import print_mlir
from xla_dialect.stablehlo import read_stablehlo
from xla_dialect.stablehlo.writing import print_stablehlo

pytestmark = pytest.mark.jax

TESTS = Path(__file__).parents[1]
VERSIONS = ("0.9.0", "0.14.0", "1.0.0", "1.7.0", "1.17.0")
"""Of StableHLO: each has a form of files, or revisions of operations, that the others have not."""
FILES = {
    f"{path.parent.name}/{path.name}": path
    for folder in ("stablehlo", "run")
    for path in sorted((TESTS / folder).glob("*.mlir"))
}
"""Programs of StableHLO, and of the `xla` dialect, which are written as StableHLO."""
QUICK = (
    "stablehlo/asynchronous.mlir",
    "stablehlo/collectives.mlir",
    "stablehlo/dynamic_shapes.mlir",
    "stablehlo/kept_attributes.mlir",
    "stablehlo/locations.mlir",
    "stablehlo/pretty_forms.mlir",
    "run/custom_call.mlir",
    "run/gather.mlir",
    "run/reduce_window.mlir",
)
SEPARATOR = "// -----"
UNREGISTERED = ('"check.', "check.", "interpreter.")
"""Before version 1 of StableHLO, jaxlib loses the properties of operations that it does not know."""


OF_LLVM = "#llvm."
"""MLIR's dialect of LLVM encodes its attributes in a way of its own, which is not read."""


def programs(name: str) -> Iterator[str]:
    """The programs of a file, in StableHLO."""
    for part in FILES[name].read_text().split(SEPARATOR):
        if name.startswith("stablehlo/"):
            yield part
            continue
        try:
            yield print_stablehlo(load_program(part))
        except XlaError:
            continue  # What StableHLO has no operation for.


def meaning(read: Callable[[], ModuleOp]) -> str:
    """What is read, without the names of values, in generic form; or why not."""
    try:
        module = read()
    except LocatedError as error:
        return error.message
    for op in module.walk():
        arguments = [a for region in op.regions for block in region.blocks for a in block.args]
        values: list[SSAValue] = [*op.results, *arguments]
        for value in values:
            value.name_hint = None
        # Where a program stays StableHLO, custom forms have properties among the attributes.
        entries = {**op.attributes, **op.properties}
        op.attributes = {}
        op.properties = dict(sorted(entries.items()))
    return print_mlir(module, generic=True)


def check_same(data: bytes, text: str) -> None:
    """Bytes are read as a text is; or refused, rightly."""
    if OF_LLVM in text:
        with pytest.raises(BinaryError, match="the dialect llvm has an encoding that is not known"):
            read_binary(data)
        return
    assert meaning(lambda: read_binary(data)) == meaning(lambda: read_stablehlo(text))


@pytest.mark.parametrize("name", each_or_full(FILES, QUICK))
def test_bytecode_is_read_as_text(name: str) -> None:
    found = 0
    for text in programs(name):
        data = bytecode_of(text)
        if data is not None and "chlo.scan" not in text:
            found += 1
            check_same(data, text)
    assert found or name not in QUICK


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("name", each_or_full(FILES, QUICK))
def test_portable_artifacts_are_read_as_text(name: str, version: str) -> None:
    for text in programs(name):
        loses_properties = version < "1" and any(each in text for each in UNREGISTERED)
        artifact = None if loses_properties else artifact_of(text, version)
        if artifact is not None:
            check_same(artifact, text_of_artifact(artifact))


@pytest.mark.parametrize("name", each_or_full(FILES, QUICK))
def test_vhlo_is_read_as_text(name: str) -> None:
    for text in programs(name):
        vhlo = vhlo_of(text)
        if vhlo is not None:
            found = meaning(lambda vhlo=vhlo: read_stablehlo(vhlo, parser_class=VhloParser))
            assert found == meaning(lambda text=text: read_stablehlo(text))


def test_programs_are_read_from_files_and_bytes(tmp_path: Path) -> None:
    text = "func.func @main(%a: tensor<3xf32>) -> tensor<3xf32> { return %a : tensor<3xf32> }"
    artifact = artifact_of(text, "1.7.0")
    assert artifact is not None
    path = tmp_path / "program.mlirbc"
    path.write_bytes(artifact)
    expected = parse_program(text)
    vhlo = vhlo_of(text)
    assert vhlo is not None
    for source in (artifact, path, str(path), vhlo):
        assert load_program(source).is_structurally_equivalent(expected)


def test_unknown_versions_are_an_error_with_both() -> None:
    artifact = artifact_of("func.func @main() { return }", "1.7.0")
    assert artifact is not None
    newer = artifact.replace(b"StableHLO_v1.7.0", b"StableHLO_v9.7.0")
    with pytest.raises(BinaryError, match=r"StableHLO 9\.7\.0; those of 0\.9\.0 to 1\.20\.0"):
        read_binary(newer, "a.mlirbc")
    with pytest.raises(BinaryError, match="version 7, the newest that is read is 6"):
        read_binary(artifact[:4] + b"\x0f" + artifact[5:], "a.mlirbc")
    with pytest.raises(LocatedError, match="revision 9 is not known, the newest one is 2"):
        read_stablehlo('"vhlo.tanh_v9"() : () -> ()', parser_class=VhloParser)


def test_lists_that_are_not_empty_say_something() -> None:
    """Where they are empty by default, also a list of zeros does."""
    text = """func.func @main(%x: tensor<?xf32>, %s: tensor<1xi64>) -> tensor<?xf32> {
      %0 = stablehlo.dynamic_broadcast_in_dim %x, %s, dims = [0]
        {known_expanding_dimensions = array<i64: 0>} : (tensor<?xf32>, tensor<1xi64>) -> tensor<?xf32>
      return %0 : tensor<?xf32>
    }"""
    artifact = artifact_of(text, "1.7.0")
    assert artifact is not None
    check_same(artifact, text)
    assert "known_expanding_dimensions = array<i64: 0>" in str(read_binary(artifact))
