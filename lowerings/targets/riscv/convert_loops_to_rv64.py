"""The pass `convert-loops-to-rv64`."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from xdsl.context import Context
from xdsl.dialects import arith, func, math, memref, rv64, scf
from xdsl.dialects.builtin import (
    Float32Type,
    Float64Type,
    FloatAttr,
    IndexType,
    MemRefType,
    ModuleOp,
    UnrealizedConversionCastOp,
    i1,
    i64,
)
from xdsl.dialects.riscv import ops as riscv
from xdsl.dialects.riscv.abstract_ops import RISCVInstruction
from xdsl.dialects.riscv.registers import Registers
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter
from xdsl.rewriter import InsertPoint

from lowerings.targets.riscv.adaptations import MoveIfZeroOp
from xla_dialect.violations import located_error
from xla_dialect.xdsl.traversal import operations_in

_INT = Registers.UNALLOCATED_INT
_FLOAT = Registers.UNALLOCATED_FLOAT


@dataclass
class RegisterBuilder:
    """Writes RISC-V operations in the place of one operation."""

    op: Operation
    rewriter: PatternRewriter

    def insert(self, op: Operation) -> SSAValue:
        """Puts an operation before the converted one; its first result."""
        self.rewriter.insert(op)
        return op.results[0]

    def register(self, value: SSAValue) -> SSAValue:
        """A value as a register."""
        type_ = _FLOAT if isinstance(value.type, Float32Type | Float64Type) else _INT
        return self.insert(UnrealizedConversionCastOp.get((value,), (type_,)))

    def instruction(self, name: str, inputs: list[SSAValue], result: Attribute) -> SSAValue:
        """An instruction that xDSL has no operation for."""
        return self.insert(riscv.CustomAssemblyInstructionOp(name, inputs, [result]))

    def replace(self, register: SSAValue) -> None:
        """The result of the converted operation is in a register."""
        cast_ = UnrealizedConversionCastOp.get((register,), (self.op.results[0].type,))
        self.rewriter.replace(self.op, cast_)

    def operands(self) -> list[SSAValue]:
        """The operands as registers."""
        return [self.register(operand) for operand in self.op.operands]

    @property
    def suffix(self) -> str:
        """`d` or `s`: how instructions on floats of the first operand's type end."""
        return "d" if isinstance(self.op.operands[0].type, Float64Type) else "s"

    def compare(self, name: str, left: SSAValue, right: SSAValue) -> SSAValue:
        """`feq`, `flt` or `fle`."""
        return self.instruction(f"{name}.{self.suffix}", [left, right], _INT)

    def negation(self, bit: SSAValue) -> SSAValue:
        """0 for 1 and the other way round."""
        return self.insert(riscv.XoriOp(bit, 1))


def _constant(to: RegisterBuilder, op: arith.ConstantOp) -> None:
    """
    Through the bits in an integer register. By way of an integer number a zero loses its sign, and
    memory below the stack pointer belongs to signal handlers.
    """
    value = op.value
    if isinstance(value, FloatAttr) and isinstance(value.type, Float64Type):
        (bits,) = struct.unpack("<q", struct.pack("<d", value.value.data))
        to.replace(to.instruction("fmv.d.x", [_bits(to, bits)], _FLOAT))
    elif isinstance(value, FloatAttr) and isinstance(value.type, Float32Type):
        (bits,) = struct.unpack("<i", struct.pack("<f", value.value.data))
        to.replace(to.insert(riscv.FMvWXOp(_bits(to, bits))))


def _bits(to: RegisterBuilder, bits: int) -> SSAValue:
    return to.insert(rv64.LiOp(bits) if bits else rv64.GetRegisterOp(Registers.ZERO))


def _fma(to: RegisterBuilder, op: math.FmaOp) -> None:
    kind = riscv.FMAddDOp if to.suffix == "d" else riscv.FMAddSOp
    to.replace(to.insert(kind(*to.operands())))


_EXTREMA: Mapping[type[Operation], tuple[type[RISCVInstruction], type[RISCVInstruction]]] = {
    arith.MaximumfOp: (riscv.FMaxSOp, riscv.FMaxDOp),
    arith.MinimumfOp: (riscv.FMinSOp, riscv.FMinDOp),
    arith.MaxnumfOp: (riscv.FMaxSOp, riscv.FMaxDOp),
    arith.MinnumfOp: (riscv.FMinSOp, riscv.FMinDOp),
}


def _number_extremum(to: RegisterBuilder, op: Operation) -> SSAValue:
    """The larger or smaller of two numbers; of a NaN and a number, the number."""
    single, double = next(row for each, row in _EXTREMA.items() if isinstance(op, each))
    kind: Any = double if to.suffix == "d" else single
    return to.insert(kind(*to.operands()))


def _extremum(to: RegisterBuilder, op: arith.MaximumfOp | arith.MinimumfOp) -> None:
    """
    The instruction returns the operand that is a number; here a NaN wins. Each operand that may be
    one is compared with itself.
    """
    found = _number_extremum(to, op)
    for operand in op.operands:
        if not _is_number(operand):
            register = to.register(operand)
            is_number = to.compare("feq", register, register)
            found = to.insert(MoveIfZeroOp(is_number, found, register))
    to.replace(found)


def _is_number(value: SSAValue) -> bool:
    """Whether a value is known not to be NaN."""
    constant = value.owner.value if isinstance(value.owner, arith.ConstantOp) else None
    if not isinstance(constant, FloatAttr):
        return False
    number = constant.value.data
    return number == number


_COMPARISONS: Mapping[int, tuple[str, bool, bool]] = {
    1: ("feq", False, False),
    2: ("flt", True, False),
    3: ("fle", True, False),
    4: ("flt", False, False),
    5: ("fle", False, False),
    9: ("fle", False, True),
    10: ("flt", False, True),
    11: ("fle", True, True),
    12: ("flt", True, True),
    13: ("feq", False, True),
}
"""By the number of a predicate of floats: instruction, operands exchanged, result negated."""


def _compare_floats(to: RegisterBuilder, op: arith.CmpfOp) -> None:
    name, exchanged, negated = _COMPARISONS[op.predicate.value.data]
    left, right = to.operands()
    found = to.compare(name, *((right, left) if exchanged else (left, right)))
    to.replace(to.negation(found) if negated else found)


_INTEGER_COMPARISONS: tuple[tuple[type[riscv.SltOp | riscv.SltuOp], bool, bool], ...] = (
    (riscv.SltOp, False, False),
    (riscv.SltOp, True, True),
    (riscv.SltOp, True, False),
    (riscv.SltOp, False, True),
    (riscv.SltuOp, False, False),
    (riscv.SltuOp, True, True),
    (riscv.SltuOp, True, False),
    (riscv.SltuOp, False, True),
)
"""From `slt` on, by predicate: instruction, operands exchanged, result negated."""


def _compare_integers(to: RegisterBuilder, op: arith.CmpiOp) -> None:
    left, right = to.operands()
    number = op.predicate.value.data
    if number < 2:
        differs = to.insert(riscv.XorOp(left, right))
        is_equal = to.insert(riscv.SltiuOp(differs, 1))
        to.replace(to.negation(is_equal) if number else is_equal)
        return
    kind, exchanged, negated = _INTEGER_COMPARISONS[number - 2]
    found = to.insert(kind(*((right, left) if exchanged else (left, right))))
    to.replace(to.negation(found) if negated else found)


def _select(to: RegisterBuilder, op: arith.SelectOp) -> None:
    condition, chosen, other = to.operands()
    match op.result.type:
        case Float64Type():
            copy: Operation = riscv.FMvDOp(chosen)
        case Float32Type():
            copy = riscv.FMVOp(chosen)
        case _:
            copy = riscv.MVOp(chosen)
    to.replace(to.insert(MoveIfZeroOp(condition, to.insert(copy), other)))


def _unary(name: str) -> Callable[[RegisterBuilder, Any], None]:
    def convert(to: RegisterBuilder, op: Operation) -> None:
        to.replace(to.instruction(f"{name}.{to.suffix}", to.operands(), _FLOAT))

    return convert


def _same_memory(to: RegisterBuilder, op: Operation) -> None:
    to.replace(to.register(op.operands[0]))


def _view(to: RegisterBuilder, op: memref.ViewOp) -> None:
    to.replace(to.insert(riscv.AddOp(to.register(op.source), to.register(op.byte_shift))))


def _reinterpret_cast(to: RegisterBuilder, op: memref.ReinterpretCastOp) -> None:
    """Of a buffer that begins where its pointer points to; `_check` knows the offset."""
    (offset,) = op.static_offsets.get_values()
    element = cast("MemRefType[Any]", op.source.type).element_type
    address = to.register(op.source)
    if offset:
        by = to.insert(rv64.LiOp(offset * element.size))
        address = to.insert(riscv.AddOp(address, by))
    to.replace(address)


CONVERSIONS: Mapping[type[Operation], Callable[[RegisterBuilder, Any], None]] = {
    arith.ConstantOp: _constant,
    arith.MaximumfOp: _extremum,
    arith.MinimumfOp: _extremum,
    arith.MaxnumfOp: lambda to, op: to.replace(_number_extremum(to, op)),
    arith.MinnumfOp: lambda to, op: to.replace(_number_extremum(to, op)),
    arith.CmpfOp: _compare_floats,
    arith.CmpiOp: _compare_integers,
    arith.SelectOp: _select,
    arith.NegfOp: _unary("fneg"),
    math.AbsFOp: _unary("fabs"),
    math.SqrtOp: _unary("fsqrt"),
    math.FmaOp: _fma,
    memref.CollapseShapeOp: _same_memory,
    memref.ExpandShapeOp: _same_memory,
    memref.CastOp: _same_memory,
    memref.ReinterpretCastOp: _reinterpret_cast,
    memref.ViewOp: _view,
}
"""What xDSL converts wrongly for RV64, or not at all."""


def _conversion(op: Operation) -> Callable[[RegisterBuilder, Any], None] | None:
    """The row of an operation's class, or of the one that it extends."""
    return next((CONVERSIONS[each] for each in type(op).__mro__ if each in CONVERSIONS), None)


_CONVERTED_BY_XDSL: tuple[type[Operation], ...] = (
    *(ModuleOp, func.FuncOp, func.ReturnOp, scf.ForOp, scf.YieldOp, memref.LoadOp, memref.StoreOp),
    *(arith.AddiOp, arith.SubiOp, arith.MuliOp, arith.AndIOp, arith.OrIOp, arith.XOrIOp),
    *(arith.AddfOp, arith.SubfOp, arith.MulfOp, arith.DivfOp, arith.IndexCastOp),
)
"""What xDSL converts rightly, as far as `_check` allows it."""

_FLOATS = (Float32Type, Float64Type)


def _fault(op: Operation) -> str | None:
    """Why neither xDSL nor this pass converts an operation rightly; None if one does."""
    if _conversion(op) is None and not isinstance(op, _CONVERTED_BY_XDSL):
        return "xDSL's RISC-V backend has no lowering of it, nor has ours"
    for value in (*op.operands, *op.results):
        type_ = value.type
        if isinstance(type_, MemRefType):
            strides = cast("MemRefType[Attribute]", type_).get_strides()
            if not type_.has_static_shape() or strides is None or None in strides:
                return f"sizes and strides must be known, found {type_}"
        elif not isinstance(type_, (*_FLOATS, IndexType)) and type_ not in (i1, i64):
            return f"values are f32, f64, i64 or i1, found {type_}"
    match op:
        case memref.ReinterpretCastOp():
            source = cast("MemRefType[Attribute]", op.source.type)
            if op.offsets or source.get_offset() != 0:
                return "only from the beginning of a buffer, by an offset that is known"
        case memref.LoadOp() | memref.StoreOp():
            element = cast("MemRefType[Attribute]", op.memref.type).element_type
            if not isinstance(element, _FLOATS):
                # xDSL loads and stores words of 4 bytes, whatever the type.
                return f"elements in memory are f32 or f64, found {element}"
        case arith.CmpfOp() if op.predicate.value.data not in _COMPARISONS:
            return "this predicate has no lowering to RISC-V"
        case _:
            pass
    return None


def require_lowerings(module: ModuleOp) -> None:
    """Raises XlaError for the first operation that nothing converts rightly, with its place."""
    for op in operations_in(module):
        fault = _fault(op)
        if fault is not None:
            raise located_error(op, fault)


@dataclass(frozen=True)
class ConvertLoopsToRv64Pass(ModulePass):
    """
    Scalar operations that xDSL's conversions to `riscv` lack, or get wrong for RV64.

    Runs before them, and leaves alone what nothing converts rightly. Results are those that MLIR
    defines: `arith.maximumf` is NaN where an operand is, zeros keep their sign.

    ```mlir
    %r = math.fma %a, %b, %c : f64
    ```
    ->
    ```mlir
    %3 = riscv.fmadd.d %0, %1, %2 : (!riscv.freg, !riscv.freg, !riscv.freg) -> !riscv.freg
    ```
    """

    name = "convert-loops-to-rv64"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        found = [each for each in operations_in(op) if _fault(each) is None]
        # Constants last: others look at them.
        for each in sorted(found, key=lambda op: isinstance(op, arith.ConstantOp)):
            convert = _conversion(each)
            if convert is not None:
                rewriter = PatternRewriter(each)
                rewriter.insertion_point = InsertPoint.before(each)
                convert(RegisterBuilder(each, rewriter), each)
