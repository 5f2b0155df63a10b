# pyright: reportPrivateUsage=false
"""What xDSL 0.74 does for every operation, done in less time; put in place by `install`.

Making, linking and erasing operations is a third of the time of most passes. These functions do
what those of xDSL do, to the same objects, without what is superfluous nearly always (what only
looks at them is in `xdsl_views`):

- `Operation.__init__` links operands and uses twice, and looks for successors that few have.
- `IRDLOperation.__post_init__` goes through all properties of a class to find those with a default.
- `Block._attach_op` goes up to the module, to see that an operation is not put into itself: only
  one with regions could be.
- `SSAValue.erase` makes a placeholder for the users of a value that has none.
- `IsolatedFromAbove.verify` goes up to the module for each operand.
- The verifier finds out for each operation which operands, results, regions and successors of its
  class are variadic.
- Values, operations and blocks are hashed by a method in Python that does what that of `object`
  does.

`test/xdsl/test_xdsl_speed.py` compares what they make with what xDSL makes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, TypeAlias

from xdsl.dialects.builtin import UNKNOWN_LOC
from xdsl.ir import (
    Attribute,
    Block,
    BlockArgument,
    ErasedSSAValue,
    Operation,
    OpResult,
    Region,
    SSAValue,
    Use,
)
from xdsl.ir.core import IRWithUses, SSAValues
from xdsl.irdl import IRDLOperation, OpDef, OptionalDef, VariadicDef, operations
from xdsl.irdl.operations import VarIRConstruct
from xdsl.traits import IsolatedFromAbove
from xdsl.utils.exceptions import VerifyException

from xla_dialect.xdsl.views import REPLACED, check_plainly

_Defaults: TypeAlias = Sequence[tuple[str, Attribute]]


def _initialize(
    self: Operation,
    *,
    operands: Sequence[SSAValue] = (),
    result_types: Sequence[Attribute] = (),
    properties: Mapping[str, Attribute] = {},
    attributes: Mapping[str, Attribute] = {},
    location: Any = None,
    successors: Sequence[Block] = (),
    regions: Sequence[Region] = (),
) -> None:
    """As `Operation.__init__`."""
    values = SSAValues(operands)
    self._operands = values
    if values:
        uses = tuple([Use(self, index) for index in range(len(values))])
        for value, use in zip(values, uses, strict=True):
            value.add_use(use)
        self._operand_uses = uses
    self.results = SSAValues([OpResult(type_, self, i) for i, type_ in enumerate(result_types)])
    self.properties = dict(properties)
    self.attributes = dict(attributes)
    self.location = UNKNOWN_LOC if location is None else location
    if successors:
        self.successors = list(successors)
    self.regions = ()
    for region in regions:
        self.add_region(region)
    self.__post_init__()


@cache
def _defaults(op_class: type[IRDLOperation]) -> tuple[_Defaults, _Defaults]:
    """The properties and attributes of a class that are there unless others are given."""
    definition = op_class.get_irdl_definition()
    properties, attributes = (
        tuple(
            (name, entry.default_value)
            for name, entry in entries.items()
            if not isinstance(entry, OptionalDef) and entry.default_value is not None
        )
        for entries in (definition.properties, definition.attributes)
    )
    return properties, attributes


def _fill_in_defaults(self: IRDLOperation) -> None:
    """As `IRDLOperation.__post_init__`."""
    properties, attributes = _defaults(type(self))
    for name, value in properties:
        self.properties.setdefault(name, value)
    for name, value in attributes:
        self.attributes.setdefault(name, value)
    # `ImplicitBuilder` hangs on it.
    Operation.__post_init__(self)


def _attach(self: Block, operation: Operation) -> None:
    """As `Block._attach_op`."""
    if operation.parent is not None:
        raise ValueError("Can't add to a block an operation already attached to a block.")
    if operation.regions and operation.is_ancestor(self):
        raise ValueError("Can't add an operation to a block contained in the operation.")
    operation.parent = self


_erase_used = SSAValue.erase


def _erase(self: SSAValue, safe_erase: bool = True) -> None:
    """As `SSAValue.erase`."""
    if self.first_use is not None:
        _erase_used(self, safe_erase)


def _verify_isolation(self: IsolatedFromAbove, op: Operation) -> None:
    """As `IsolatedFromAbove.verify`."""
    # In the order in which xDSL looks for the first fault.
    inside: dict[Block, None] = {}
    pending = [*op.regions]
    while pending:
        for block in pending.pop().blocks:
            inside[block] = None
            for child in block.ops:
                if child.regions and not child.has_trait(IsolatedFromAbove):
                    pending += child.regions
    for block in inside:
        for child in block.ops:
            for operand in child._operands:
                if _block_of(operand) not in inside:
                    raise VerifyException(
                        "Operation using value defined out of its "
                        f"IsolatedFromAbove parent: {child}"
                    )


def _block_of(value: SSAValue) -> Block | None:
    """The block that defines a value."""
    if isinstance(value, OpResult):
        return value.op.parent
    if isinstance(value, BlockArgument):
        return value.block
    assert isinstance(value, ErasedSSAValue)
    return _block_of(value.old_value)


_verify_variadic_count = operations.verify_variadic_size
_Counts: TypeAlias = tuple[int | None, ...]
_COUNTS = "_counts_of_constructs"
_CONSTRUCTS = (
    VarIRConstruct.OPERAND,
    VarIRConstruct.RESULT,
    VarIRConstruct.REGION,
    VarIRConstruct.SUCCESSOR,
)


def _counts(op_def: OpDef) -> _Counts:
    """How many of each construct operations of a class have, None if that differs."""
    found: list[int | None] = []
    for construct in _CONSTRUCTS:
        definitions = operations.get_construct_defs(op_def, construct)
        is_fixed = not any(isinstance(each, VariadicDef) for _, each in definitions)
        found.append(len(definitions) if is_fixed else None)
    counts = tuple(found)
    setattr(op_def, _COUNTS, counts)
    return counts


def _verify_count(op: Operation, op_def: OpDef, construct: VarIRConstruct) -> None:
    """As `verify_variadic_size`."""
    operands, results, regions, successors = op_def.__dict__.get(_COUNTS) or _counts(op_def)
    if construct is _CONSTRUCTS[0]:
        is_right = len(op._operands) == operands
    elif construct is _CONSTRUCTS[1]:
        is_right = len(op.results) == results
    elif construct is _CONSTRUCTS[2]:
        is_right = len(op.regions) == regions
    else:
        is_right = len(op._successors) == successors
    if not is_right:
        _verify_variadic_count(op, op_def, construct)


@cache
def install() -> None:
    """
    Puts the functions into the classes of xDSL.

    Once: to change a class takes time, and so does the next use of each class that derives from it.
    """
    replacements: dict[type[Any], dict[str, Any]] = {
        Operation: {"__init__": _initialize},
        IRDLOperation: {"__post_init__": _fill_in_defaults},
        Block: {"_attach_op": _attach},
        SSAValue: {"erase": _erase},
        IsolatedFromAbove: {"verify": _verify_isolation},
    }
    for class_, methods in (*replacements.items(), *REPLACED.items()):
        for name, method in methods.items():
            setattr(class_, name, method)
    operations.verify_variadic_size = _verify_count
    for class_ in (SSAValue, Operation, IRDLOperation, Block, Region):
        for name in ("__hash__", "__eq__"):
            setattr(class_, name, getattr(object, name))
    check_plainly(Operation, Block, Region, IRWithUses, Attribute)
