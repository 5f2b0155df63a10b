"""The builder of programs."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import BlockArgument, Operation, Region

from xla_dialect.builder.arguments import TypeLike, as_type, build_error, caller_location, explained
from xla_dialect.builder.array_methods import ArrayMethods
from xla_dialect.builder.communication import CommunicationMethods
from xla_dialect.builder.control_flow import ControlFlowMethods
from xla_dialect.builder.operation_methods import OperationMethods, appends
from xla_dialect.builder.recorder import XlaComputation, XlaValue, function_of
from xla_dialect.ops.control_flow import ReturnOp
from xla_dialect.ops.tuples import GetTupleElementOp
from xla_dialect.verification import verify
from xla_dialect.xdsl.creation import create


class XlaBuilder(ArrayMethods, ControlFlowMethods, CommunicationMethods, OperationMethods):
    """
    Builds one program, operation by operation; every method appends one and returns its value.

    Result types are inferred, and every constraint is checked at once: errors are `BuildError`s
    that point at the line of the call. In the examples of the methods, `x` and `y` are f32[4,8],
    `v` is f32[8], `n` and `m` are s32[4,8], `p` and `q` pred[4,8], `z` is c64[4,8], `k` is s32[3],
    `s` is f32[], `i` is s32[] and `c` is pred[].
    """

    def __init__(self, name: str, before: Operation | None = None) -> None:
        """
        A program of this name, without parameters yet.

        For passes: if `before` is given, operations are put before that, with its location.
        """
        super().__init__()
        if before is not None:
            self.stand_before(before)
        self.name = name
        self._parameters: dict[int, BlockArgument] = {}

    @explained
    def parameter(self, number: int, shape: TypeLike, name: str = "") -> XlaValue:
        """
        Parameter `number`, from 0, of this type; parameters may be made in any order.

        Example: `b.parameter(0, "(f32[2], s32[])", "state")`.
        """
        type_ = as_type(shape)
        if number < 0 or number in self._parameters:
            raise build_error(f"parameter: there cannot be a parameter {number} here")
        if self._open_blocks[-1] is not self._entry or self._finished:
            raise build_error(
                "parameter: the parameters of a computation are the arguments of its function"
            )
        position = sum(other < number for other in self._parameters)
        argument = self._entry.insert_arg(type_, position, caller_location())
        self._parameters[number] = argument
        value = XlaValue(self, argument)
        return value.named(name) if name else value

    @explained
    def build(self, root: XlaValue | Sequence[XlaValue]) -> ModuleOp:
        """
        The module whose function `@main` returns the root, or several values; it is verified.

        Nothing can be appended afterwards. Raises BuildError, or InvalidProgram for what only shows
        in the whole.
        """
        main = function_of("main", self._finish(root), "public")
        module = ModuleOp([main, *self._functions.values()], sym_name=StringAttr(self.name))
        verify(module)
        return module

    @explained
    def build_computation(self, root: XlaValue | Sequence[XlaValue]) -> XlaComputation:
        """
        The program as a computation for other builders.

        Nothing can be appended afterwards. Raises BuildError.
        """
        body = self._finish(root)
        functions = tuple(self._functions.values())
        return XlaComputation(self.name, body, isinstance(root, XlaValue), functions)

    @appends(GetTupleElementOp)
    def get_tuple_element(self, tuple: XlaValue | Sequence[XlaValue], index: int) -> XlaValue:
        """
        Element `index` of a tuple, or of the values that a method gives as a Python tuple.

        Example: `b.get_tuple_element(b.tuple([x, i]), 1)`.
        """
        if isinstance(tuple, XlaValue):
            return self._append(GetTupleElementOp, tuple, index=index)
        if not 0 <= index < len(tuple):
            raise build_error(f"get_tuple_element: (C2) index {index} of {len(tuple)} elements")
        return tuple[index]

    def _finish(self, root: XlaValue | Sequence[XlaValue]) -> Region:
        """The body of the program, which ends with `xla.return`."""
        if self._finished:
            raise build_error("the program is built already")
        if self._open_blocks[-1] is not self._entry:
            raise build_error("the function of a computation has not returned yet")
        if sorted(self._parameters) != list(range(len(self._parameters))):
            missing = min(set(range(len(self._parameters))) - set(self._parameters))
            raise build_error(
                f"there is no parameter {missing}, but a parameter {max(self._parameters)}"
            )
        results = self._results(root, "the program")
        self._finished = True
        self._entry.add_op(create(ReturnOp, operands=results))
        return Region(self._entry)
