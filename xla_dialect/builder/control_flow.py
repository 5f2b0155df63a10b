"""Calls, branches and loops (docs/generated/ops.md#control-flow)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, overload

from xdsl.dialects.builtin import DictionaryAttr, StringAttr, SymbolRefAttr
from xdsl.ir import Attribute, Region

from xla_dialect.attributes import CustomCallApiVersion, FusionKind
from xla_dialect.builder.arguments import TypeLike, as_type, build_error, explained, normalized
from xla_dialect.builder.array_methods import Results, Values
from xla_dialect.builder.operation_methods import appends
from xla_dialect.builder.recorder import (
    Computation,
    Computations,
    XlaComputation,
    XlaValue,
    as_list,
    violated,
)
from xla_dialect.constraints import as_array, flat_results, signature
from xla_dialect.ops import control_flow as ops
from xla_dialect.ops.custom_calls import CustomCallOp
from xla_dialect.shapes.size_arithmetic import without
from xla_dialect.types import PRED, S32, array, compatible, extents, is_scalar, spell
from xla_dialect.violations import Violation

_COMPOSITE_NAME = re.compile(r'[^\s."\\]+(\.[^\s."\\]+)+')


class ControlFlowMethods(Computations):
    """
    Methods that run computations.

    What a computation returns is what they give: one value, or a Python tuple of values. Where one
    operand is meant for each computation, a sequence gives it several parameters.
    """

    @appends(ops.CallOp)
    def call(self, computation: Computation, args: Sequence[XlaValue] = ()) -> Any:
        """
        The results of a function of the module on the arguments.

        A Python function becomes a new one, which cannot use values from around it; the computation
        of another builder becomes one however often it is called.
        Example: `b.call(lambda a: b.tanh(a), [x])`.
        """
        return self._call(computation, args)

    @appends(ops.CallOp)
    def composite_call(
        self,
        computation: Computation,
        args: Sequence[XlaValue],
        name: str,
        composite_attributes: str | None = None,
        version: int = 0,
    ) -> Any:
        """
        A call that stands for the operation `name`, of which the computation is the meaning.

        (C3) `name` is of the form `namespace.op`; `composite_attributes` is a dictionary as MLIR
        writes it, `{n = 1 : i32}`. (C4) the version is not negative.

        Example: `b.composite_call(b.tanh, [x], "my.activation", version=1)`.
        """
        if _COMPOSITE_NAME.fullmatch(name) is None:
            raise build_error(
                f"composite_call: (C3) name is '{name}', not of the form namespace.op"
            )
        if version < 0:
            raise build_error(f"composite_call: (C4) version is {version}")
        described = _composite_attributes(name, composite_attributes, version)
        return self._call(
            computation, args, is_composite=True, attributes={"xla.frontend_attributes": described}
        )

    def _call(
        self, computation: Computation, args: Sequence[XlaValue], **keywords: Any
    ) -> XlaValue | tuple[XlaValue, ...]:
        given = [value.type for value in self._all_ssa(args, "argument")]
        function, returns_one = self._function(computation, given)
        parameters = function.function_type.inputs.data
        if len(parameters) != len(given):
            raise build_error(
                f"xla.call: (C1) {len(given)} operands for {len(parameters)} parameters"
            )
        for i, types in enumerate(zip(parameters, given, strict=True)):
            if not compatible(*types):
                raise build_error(
                    f"xla.call: (C2) argument {i} is {spell(types[1])}, "
                    f"the parameter is {spell(types[0])}"
                )
        results = self._append(
            ops.CallOp,
            args,
            to_apply=SymbolRefAttr(function.sym_name),
            result_types=function.function_type.outputs.data,
            **keywords,
        )
        return results[0] if returns_one else results

    @overload
    def conditional(
        self,
        pred: XlaValue,
        true_operand: Values,
        true_computation: Computation,
        false_operand: Values,
        false_computation: Computation,
    ) -> Any: ...

    @overload
    def conditional(
        self,
        branch_index: XlaValue,
        branch_computations: Sequence[Computation],
        branch_operands: Sequence[Values],
        /,
    ) -> Any: ...

    @appends(ops.ConditionalOp)
    def conditional(self, *arguments: Any, **named: Any) -> Any:
        """
        The results of the one branch that is run, on its operand.

        `conditional(pred, true_operand, true_computation, false_operand, false_computation)`, or
        `conditional(branch_index, branch_computations, branch_operands)`, where an index out of
        range runs the last branch. A branch may use values from around it, so its operand may be
        `()`. (A.C1) `pred` is a scalar of pred. (B.C1) `branch_index` is a scalar of s32. (B.C2)
        There are as many operands as branches.

        Examples: `b.conditional(c, x, b.exp, x, b.abs)`;
        `b.conditional(i, [lambda: x, lambda: y], [(), ()])`.
        """
        if len(arguments) + len(named) == 3:
            return self._conditional_on_index(*arguments, **named)
        return self._conditional_on_pred(*arguments, **named)

    @explained
    def _conditional_on_pred(
        self,
        pred: XlaValue,
        true_operand: Values,
        true_computation: Computation,
        false_operand: Values,
        false_computation: Computation,
    ) -> Any:
        if not is_scalar(self._ssa(pred, "pred").type, PRED):
            raise build_error(f"conditional: (A.C1) pred is {spell(pred.type)}, not pred[]")
        return self._conditional(
            pred, [true_computation, false_computation], [true_operand, false_operand]
        )

    @explained
    def _conditional_on_index(
        self,
        branch_index: XlaValue,
        branch_computations: Sequence[Computation],
        branch_operands: Sequence[Values],
    ) -> Any:
        if not is_scalar(self._ssa(branch_index, "branch_index").type, S32):
            found = spell(branch_index.type)
            raise build_error(f"conditional: (B.C1) branch_index is {found}, not s32[]")
        if len(branch_computations) != len(branch_operands):
            raise build_error(
                f"conditional: (B.C2) {len(branch_operands)} operands for "
                f"{len(branch_computations)} branches"
            )
        return self._conditional(branch_index, branch_computations, branch_operands)

    def _conditional(
        self,
        index: XlaValue,
        computations: Sequence[Computation],
        operands: Sequence[Values],
    ) -> XlaValue | tuple[XlaValue, ...]:
        given = [as_list(operand) for operand in operands]
        branches = [
            self._traced(
                computation, [ssa.type for ssa in self._all_ssa(values, f"operand of branch {i}:")]
            )
            for i, (computation, values) in enumerate(zip(computations, given, strict=True))
        ]
        results = self._append(
            ops.ConditionalOp,
            index,
            [value for values in given for value in values],
            regions=[[branch.body for branch in branches]],
        )
        return results[0] if branches[0].returns_one else results

    @appends(ops.WhileOp)
    def while_(self, condition: Computation, body: Computation, init: Values) -> Results:
        """
        `x = init; while condition(x): x = body(x)`; the last x.

        Several values are carried as a sequence of parameters, and come back as a Python tuple.
        Example: `b.while_(lambda k: k < 10, lambda k: k + 1, i)`.
        """
        types = [ssa.type for ssa in self._all_ssa(as_list(init), "init")]
        regions = [self._region(condition, types), self._region(body, types)]
        return self._append(ops.WhileOp, init, regions=regions)

    @appends(ops.ScanOp)
    def scan(
        self,
        inputs: Sequence[XlaValue],
        carries: Sequence[XlaValue],
        computation: Computation,
        dimension: int,
        is_reverse: bool = False,
        is_associative: bool = False,
        *,
        length: int | None = None,
    ) -> tuple[XlaValue, ...]:
        """
        `outputs[i], carries = computation(inputs[i], carries)`, for every i along a dimension.

        The computation takes a slice of each input, without that dimension, and the carries, and
        returns slices of outputs and the new carries. The results are the outputs, stacked, and
        the last carries. (C2) Without inputs, `length`, which is not negative, is the number of
        steps; with inputs it is not given.

        Examples: `b.scan([x], [v], lambda row, sum: (row + sum, row + sum), 0)`;
        `b.scan([], [s], lambda sum: (sum, sum + 1), 0, length=5)`.
        """
        if bool(inputs) == (length is not None):
            raise build_error("scan: (C2) either there are inputs, or length is given")
        state = [ssa.type for ssa in self._all_ssa(carries, "carry")]
        number = normalized(dimension, inputs[0].rank) if inputs else dimension
        slices = [array(value.element_type, without(value.shape, (number,))) for value in inputs]
        body = self._region(computation, [*slices, *state])
        declared: list[Attribute] | None = None
        if length is not None:
            number, declared = _stacked(body, len(state), dimension, length)
        return self._append(
            ops.ScanOp,
            [*inputs, *carries],
            dimension=number,
            num_carries=len(state),
            is_reverse=is_reverse,
            is_associative=is_associative,
            regions=[body],
            result_types=declared,
        )

    @appends(ops.FusionOp)
    def fusion(
        self,
        operands: Sequence[XlaValue],
        computation: Computation,
        kind: FusionKind | str = FusionKind.LOOP,
    ) -> Any:
        """
        The results of the computation, which backends are asked to compute as one.

        Example: `b.fusion([x, y], lambda p, q: b.tanh(p * q))`.
        """
        types = [ssa.type for ssa in self._all_ssa(operands)]
        body, returns_one = self._traced(computation, types)
        results = self._append(ops.FusionOp, operands, kind=kind, regions=[body])
        return results[0] if returns_one else results

    @appends(CustomCallOp)
    def custom_call(
        self,
        target_name: str,
        args: Sequence[XlaValue],
        shape: TypeLike,
        *,
        has_side_effect: bool = False,
        backend_config: str | None = None,
        api_version: CustomCallApiVersion | str | None = None,
        called_computations: Sequence[XlaComputation] = (),
    ) -> XlaValue:
        """
        The result, of type `shape`, of the external function of this name on the arguments.

        Whoever runs the program has to register the function.
        Example: `b.custom_call("myfunc", [x, v], "f32[3,3]")`.
        """
        config = None if backend_config is None else StringAttr(backend_config)
        (result,) = self._append(
            CustomCallOp,
            args,
            custom_call_target=target_name,
            custom_call_has_side_effect=has_side_effect,
            api_version=api_version,
            regions=[[self._region(computation, ()) for computation in called_computations]],
            attributes={} if config is None else {"xla.backend_config": config},
            result_types=[as_type(shape)],
        )
        return result


def _stacked(
    body: Region, carries: int, dimension: int, length: int
) -> tuple[int, list[Attribute]]:
    """
    The results of a scan of `length` steps with this body, and the dimension counted from 0.

    Raises BuildError for a negative length, and for outputs that are no arrays.
    """
    if length < 0:
        raise build_error(f"scan: (C2) length is {length}")
    _, returned = signature(body, "to_apply", "C3")
    results = flat_results(returned)
    count = max(0, len(results) - carries)
    try:
        outputs = [as_array(type_, "an output", "C4") for type_ in results[:count]]
    except Violation as violation:
        raise violated("scan", violation) from None
    number = normalized(dimension, len(extents(outputs[0])) + 1) if outputs else dimension
    return number, [*(ops.stacked(t, number, length) for t in outputs), *results[count:]]


def _composite_attributes(name: str, attributes: str | None, version: int) -> Attribute:
    """What HLO text has as `frontend_attributes` of a composite call, as the reader keeps it."""
    if attributes is None:
        return DictionaryAttr(
            {"composite.name": StringAttr(name), "composite.version": StringAttr(str(version))}
        )
    return StringAttr(
        f'{{composite.attributes={attributes},composite.name="{name}",'
        f'composite.version="{version}"}}'
    )
