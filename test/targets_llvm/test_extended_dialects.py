"""The extensions of xDSL's arith and vector: classes, constructors, what they refuse."""

import pytest
from loops_level import context, parse
from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, TensorType, VectorType, f32, i1, i32, i64
from xdsl.ir import Attribute, Block, SSAValue
from xdsl.transforms.canonicalize import CanonicalizePass
from xdsl.utils.exceptions import ParseError, VerifyException

from lowerings.dialects import arith_extension
from lowerings.dialects.arith_extension import (
    EXTENSIONS,
    CmpfOp,
    CmpiOp,
    IndexCastOp,
    SelectOp,
    SIToFPOp,
)
from xla_dialect.mlir_text import print_mlir


def test_subclasses_of_those_of_xdsl():
    """What handles xDSL's operations handles these."""
    base = {op.name: op for op in arith.Arith.operations}
    for name, extended in EXTENSIONS.items():
        assert name not in base or issubclass(extended, base[name])
    assert {op.name for op in arith_extension.ARITH.operations} == base.keys() | EXTENSIONS.keys()


def value(type_: Attribute) -> SSAValue:
    return Block(arg_types=[type_]).args[0]


def test_constructors():
    vector = value(VectorType(i32, [4]))
    compared = CmpiOp(vector, vector, "ult")
    assert compared.result.type == VectorType(i1, [4])
    chosen = SelectOp(compared, vector, vector)
    cast = SIToFPOp(vector, VectorType(f32, [4]))
    tensor = value(TensorType(f32, [2, 3]))
    assert CmpfOp(tensor, tensor, "une").result.type == TensorType(i1, [2, 3])
    scalar = value(f32)
    assert CmpfOp(scalar, scalar, 3).result.type == i1
    for op in (compared, chosen, cast, IndexCastOp(value(i64), IndexType())):
        op.verify()
    with pytest.raises(VerifyException, match="unknown comparison predicate: less"):
        CmpiOp(vector, vector, "less")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("arith.extsi %v : vector<4xi32> to vector<4xi16>", "must be wider than operand type i32"),
        ("arith.trunci %v : vector<4xi32> to vector<4xi32>", "must be narrower than operand"),
        ("arith.extui %v : vector<4xi32> to vector<8xi64>", "differ in shape"),
        ("arith.sitofp %v : vector<4xi32> to f32", "differ in shape"),
        ("arith.index_cast %v : vector<4xi32> to vector<4xi64>", "exactly one of operand type"),
        (
            "arith.fptosi %f : vector<4xf32> to vector<4xf32>",
            "f32 should be of base attribute integer_type",
        ),
        (
            "arith.select %m, %f, %f : vector<8xi1>, vector<4xf32>",
            "must be i1 or have the shape of vector<4xf32>",
        ),
        (
            '"arith.cmpi"(%v, %v) <{predicate = 0 : i64}> : (vector<4xi32>, vector<4xi32>) -> i1',
            "result type is i1, expected vector<4xi1>",
        ),
        (
            "vector.gather %x[%i] [%v], %n, %f : memref<8x8xf32>, vector<4xi32>, vector<4xi1>, "
            "vector<4xf32> into vector<4xf32>",
            "1 offsets into memref<8x8xf32>",
        ),
        (
            "vector.gather %x[%i, %i] [%v], %m, %f : memref<8x8xf32>, vector<4xi32>, "
            "vector<8xi1>, vector<4xf32> into vector<4xf32>",
            "vectors differ in shape",
        ),
        (
            "vector.gather %x[%i, %i] [%v], %n, %v : memref<8x8xf32>, vector<4xi32>, "
            "vector<4xi1>, vector<4xi32> into vector<4xi32>",
            "element types of memref<8x8xf32> and vector<4xi32> differ",
        ),
    ],
)
def test_what_is_refused(line: str, message: str):
    header = (
        "func.func @f(%v: vector<4xi32>, %f: vector<4xf32>, %m: vector<8xi1>, "
        "%n: vector<4xi1>, %x: memref<8x8xf32>, %i: index) {\n"
    )
    with pytest.raises((VerifyException, ParseError), match=message):
        parse(f"{header}%r = {line}\nfunc.return\n}}")


def test_canonicalization_leaves_comparisons_of_vectors():
    """XDSL 0.74.0 would fold `cmpi eq, %v, %v` of vectors to a scalar."""
    module = parse(
        """
        func.func @f(%v: vector<4xi32>) -> vector<4xi1> {
          %r = arith.cmpi eq, %v, %v : vector<4xi32>
          func.return %r : vector<4xi1>
        }
        """
    )
    CanonicalizePass().apply(context(), module)
    module.verify()
    assert "arith.cmpi eq" in print_mlir(module)
