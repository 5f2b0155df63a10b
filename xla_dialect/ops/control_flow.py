"""Calls, branches and loops."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar, cast

from xdsl.dialects.builtin import (
    FlatSymbolRefAttrConstr,
    StringAttr,
)
from xdsl.ir import Attribute, Region
from xdsl.irdl import (
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
    var_region_def,
    var_result_def,
)
from xdsl.traits import IsTerminator, RecursiveMemoryEffect

from xla_dialect.attributes import FALSE, FLAG, INTEGER, FusionKindAttr
from xla_dialect.constraints import (
    flat_results,
    require_computation,
    require_marks,
    signature,
    with_elements,
)
from xla_dialect.dimensions import (
    DataFlowEdge,
    Factor,
    FactorType,
    OpOperand,
    RelationsBuilder,
    Traversal,
    pointwise,
    terminator,
)
from xla_dialect.op import Types, XlaOp
from xla_dialect.shapes import size_arithmetic as shapes
from xla_dialect.shapes.size_arithmetic import UNKNOWN, is_unknown
from xla_dialect.types import (
    PRED,
    S32,
    Array,
    ElementClass,
    all_compatible,
    array,
    is_array,
    is_scalar,
    sizes_of,
    spell,
    spell_all,
    united_marks,
)
from xla_dialect.violations import Violation, require
from xla_dialect.xdsl.definition import op_definition


@op_definition
class ReturnOp(XlaOp):
    """Ends a computation; the operands are its results."""

    name = "xla.return"
    UNRELATED: ClassVar = "values go to what is around"
    values = var_operand_def()
    assembly_format = "($values^ `:` type($values))? attr-dict"
    traits = traits_def(IsTerminator())

    @staticmethod
    def infer(values: tuple[Attribute, ...]) -> Types:
        """No results."""
        return ()


class RunningOp(XlaOp):
    """An operation whose results are those of computations that it runs."""

    UNRELATED: ClassVar[str | None] = "values go through a computation"
    outputs = var_result_def()


@irdl_op_definition
class CallOp(RunningOp):
    """
    The results of the function `to_apply` on the operands; the call graph has no cycles.

    (C1) as many operands as parameters. (C2) their types are those of the parameters, and the
    results those of the function (both checked where the function is known, see `verification`).
    """

    name = "xla.call"
    arguments = var_operand_def()
    to_apply = prop_def(FlatSymbolRefAttrConstr)
    is_composite = prop_def(FLAG, default_value=FALSE)

    @staticmethod
    def infer(arguments: tuple[Attribute, ...], *, declared: Types) -> Types:
        """The declared types."""
        return declared


@irdl_op_definition
class FusionOp(RunningOp):
    """
    The results of the computation `calls` on the operands; `kind` is a hint for backends.

    (C1) as many operands as parameters. (C2) their types are those of the parameters.
    """

    name = "xla.fusion"
    arguments = var_operand_def()
    kind = opt_prop_def(FusionKindAttr)
    calls = region_def()
    traits = traits_def(RecursiveMemoryEffect())

    @staticmethod
    def infer(arguments: tuple[Attribute, ...], *, calls: Region) -> Types:
        """The results of the computation."""
        parameters, results = signature(calls, "calls", "C1")
        require(
            len(parameters) == len(arguments),
            "C1",
            "{} operands for {} parameters",
            len(arguments),
            len(parameters),
        )
        require(
            all_compatible(arguments, parameters),
            "C2",
            "operands {} for parameters {}",
            spell_all(arguments),
            spell_all(parameters),
        )
        require_marks(arguments, "the computation", parameters, "C2")
        return tuple(results)

    def data_flow_edges(self) -> Iterator[DataFlowEdge]:
        """Operands to parameters, what is returned to the results."""
        for i, parameter in enumerate(self.calls.block.args):
            yield DataFlowEdge((OpOperand(self, i),), (parameter,))
        last = terminator(self.calls)
        for i, result in enumerate(self.results):
            yield DataFlowEdge((OpOperand(last, i),), result=result)


@irdl_op_definition
class WhileOp(RunningOp):
    """
    `x = init; while condition(x): x = body(x)`; the results are the last x.

    HLO carries one value (often a tuple); several values are carried one by one.

    (C1) condition and body take as many parameters as there are init values; the condition returns
    a scalar pred. (C2) init values, parameters and results of the body have the same types; what is
    dynamic in a value is so in the parameters.
    """

    name = "xla.while"
    init = var_operand_def()
    condition = region_def()
    body = region_def()
    traits = traits_def(RecursiveMemoryEffect())

    @staticmethod
    def infer(init: tuple[Attribute, ...], *, condition: Region, body: Region) -> Types:
        """The types of the init values, dynamic where the body's results are."""
        taken: dict[str, Sequence[Attribute]] = {}
        for name, region in (("condition", condition), ("body", body)):
            taken[name] = parameters = signature(region, name, "C1")[0]
            require(
                len(parameters) == len(init),
                "C1",
                "{} takes {} values, init has {}",
                name,
                len(parameters),
                len(init),
            )
        require_computation(condition, "condition", init, (array(PRED, ()),), ("C2", "C1"))
        found, results = signature(body, "body", "C2")
        for name, types in (("takes", found), ("returns", results)):
            require(
                all_compatible(types, init),
                "C2",
                "body {} {}, init is {}",
                name,
                spell_all(types),
                spell_all(init),
            )
        for name, types in taken.items():
            require_marks(init, name, types, "C2")
            require_marks(results, name, types, "C2")
        return tuple(map(united_marks, init, results))

    def data_flow_edges(self) -> Iterator[DataFlowEdge]:
        """Init values, and what the body returns, to the parameters and results."""
        parameters = zip(self.condition.block.args, self.body.block.args, strict=True)
        last = terminator(self.body)
        for i, (both, result) in enumerate(zip(parameters, self.results, strict=True)):
            yield DataFlowEdge((OpOperand(self, i), OpOperand(last, i)), both, result)


@irdl_op_definition
class ConditionalOp(RunningOp):
    """
    The results of one branch, run on its operands.

    A pred picks the first branch if true, else the second; an s32 picks the branch of that number,
    the last one if out of range. The operands follow each other branch by branch, as many for each
    as it has parameters (in HLO exactly one).

    (C1) `branch_index` is a scalar pred or s32; a pred has two branches.
    (C2) there is a branch, and as many operands as parameters. (C3) operands have the types of the
    parameters. (C4) all branches return the same types.
    """

    name = "xla.conditional"
    branch_index = operand_def()
    branch_operands = var_operand_def()
    branch = var_region_def()
    traits = traits_def(RecursiveMemoryEffect())

    @staticmethod
    def infer(
        branch_index: Attribute,
        branch_operands: tuple[Attribute, ...],
        *,
        branch: tuple[Region, ...],
    ) -> Types:
        """The results of the branches."""
        if not is_scalar(branch_index, PRED) and not is_scalar(branch_index, S32):
            raise Violation("C1", f"branch index is {spell(branch_index)}")
        if is_scalar(branch_index, PRED):
            require(len(branch) == 2, "C1", "{} branches for a pred", len(branch))
        require(bool(branch), "C2", "there are no branches")
        taken = 0
        results: list[Attribute] | None = None
        for i, region in enumerate(branch):
            parameters, outputs = signature(region, f"branch {i}", "C3")
            given = branch_operands[taken : taken + len(parameters)]
            taken += len(parameters)
            require(len(given) == len(parameters), "C2", "operands missing for branch {}", i)
            require(
                all_compatible(given, parameters),
                "C3",
                "branch {} takes {}, operands are {}",
                i,
                spell_all(parameters),
                spell_all(given),
            )
            require_marks(given, f"branch {i}", parameters, "C3")
            results = outputs if results is None else results
            require(
                all_compatible(flat_results(outputs), flat_results(results)),
                "C4",
                "branch {} returns {}, branch 0 {}",
                i,
                spell_all(outputs),
                spell_all(results),
            )
            if len(outputs) == len(results):
                results = list(map(united_marks, results, outputs))
        require(
            taken == len(branch_operands),
            "C2",
            "{} branch operands for {} parameters",
            len(branch_operands),
            taken,
        )
        return tuple(cast("list[Attribute]", results))

    def data_flow_edges(self) -> Iterator[DataFlowEdge]:
        """Operands to the parameters of their branch, what branches return to the results."""
        parameters = (parameter for region in self.branch for parameter in region.block.args)
        for i, parameter in enumerate(parameters, 1):
            yield DataFlowEdge((OpOperand(self, i),), (parameter,))
        ends = [terminator(region) for region in self.branch]
        for i, result in enumerate(self.results):
            yield DataFlowEdge([OpOperand(last, i) for last in ends], result=result)


@irdl_op_definition
class ScanOp(XlaOp):
    """
    `outputs[i], carries = to_apply(inputs[i], carries)`, one step per index along `dimension`.

    The steps run from the first to the last index, or backwards with `is_reverse`. The results are
    the outputs, stacked along `dimension`, and the last carries; `is_associative` is a hint.

    (C1) `0 <= num_carries <=` number of operands, the carries are the last of them. (C2)
    `dimension` is a dimension of all inputs, which have the same size there; without inputs, of the
    declared outputs. (C3) the computation takes the slices of the inputs without that dimension,
    then the carries. (C4) it returns slices of outputs, which are arrays with room for that
    dimension, then the carries.
    """

    name = "xla.scan"
    arguments = var_operand_def()
    dimension = prop_def(INTEGER)
    num_carries = prop_def(INTEGER)
    is_reverse = prop_def(FLAG, default_value=FALSE)
    is_associative = prop_def(FLAG, default_value=FALSE)
    outputs = var_result_def()
    to_apply = region_def()
    traits = traits_def(RecursiveMemoryEffect())

    @staticmethod
    def infer(
        arguments: tuple[Attribute, ...],
        *,
        dimension: int,
        num_carries: int,
        to_apply: Region,
        declared: Types,
    ) -> Types:
        """The stacked outputs, and the carries."""
        count = len(arguments) - num_carries
        require(0 <= num_carries <= len(arguments), "C1", "{} carries", num_carries)
        inputs, carries = arguments[:count], arguments[count:]
        scanned = inputs or flat_results(declared)[: -num_carries or None]
        arrays = [with_elements(t, ElementClass.ANY, "an input", "C2") for t in scanned]
        require(bool(arrays), "C2", "there is nothing to scan")
        for scanned_array in arrays:
            rank = len(sizes_of(scanned_array))
            require(0 <= dimension < rank, "C2", "dimension {} for rank {}", dimension, rank)
        found = [sizes_of(a)[dimension] for a in arrays]
        lengths = {length for length in found if not is_unknown(length)} or {UNKNOWN}
        require(len(lengths) == 1, "C2", "sizes along the dimension are {}", sorted(lengths))
        slices = [
            array(a.element_type, shapes.without(sizes_of(a), (dimension,))) for a in arrays[:count]
        ]
        found, returned = signature(to_apply, "to_apply", "C3")
        require(
            all_compatible(found, (*slices, *carries)),
            "C3",
            "to_apply takes {}, expected {}",
            spell_all(found),
            spell_all((*slices, *carries)),
        )
        results = flat_results(returned)
        produced = results[: len(results) - num_carries]
        require(
            len(results) >= num_carries
            and all_compatible(results[len(produced) :], carries)
            and all(is_array(t) and len(t.shape.data) >= dimension for t in produced),
            "C4",
            "to_apply returns {}, expected outputs and {}",
            spell_all(results),
            spell_all(carries),
        )
        (length,) = lengths
        return (*(stacked(cast(Array, t), dimension, length) for t in produced), *carries)

    @staticmethod
    def relate(relations: RelationsBuilder, *, dimension: int, num_carries: int) -> None:
        """Steps go along `dimension` of inputs and outputs; all other dimensions stay whole."""
        relations.keep_static("the number of steps and what they take are fixed")
        scanned = len(relations.operands) - num_carries
        produced = len(relations.results) - num_carries
        length = (*relations.operands[:scanned], *relations.results)[0][dimension]
        relations.add(
            Factor(length, FactorType.NEED_REPLICATION, Traversal.WHOLE),
            dict.fromkeys(range(scanned), dimension),
            dict.fromkeys(range(produced), dimension),
        )
        for is_result, arrays in enumerate((relations.operands, relations.results)):
            for i, sizes in enumerate(arrays):
                for d, size in enumerate(sizes):
                    if d != dimension or i >= (scanned, produced)[is_result]:
                        own = Factor(size, FactorType.NEED_REPLICATION, Traversal.WHOLE)
                        relations.add(own, *(({}, {i: d}) if is_result else ({i: d}, {})))


def stacked(slice_type: Array, dimension: int, length: int) -> Array:
    """The type of `length` slices along a new dimension."""
    sizes = sizes_of(slice_type)
    return array(slice_type.element_type, (*sizes[:dimension], length, *sizes[dimension:]))


class BarrierOp(XlaOp):
    """The operand itself, at a place that something does not go across."""

    HANDS_ON: ClassVar = True
    operand = operand_def()
    result = result_def()

    @staticmethod
    def infer(operand: Attribute) -> Types:
        """The type of the operand."""
        return (operand,)

    relate = staticmethod(pointwise)


@irdl_op_definition
class DomainOp(BarrierOp):
    """The operand; `domain` says between which domains, e.g. shardings, it passes here."""

    name = "xla.domain"
    domain = opt_prop_def(StringAttr)


@irdl_op_definition
class OptBarrierOp(BarrierOp):
    """The operand; no computation is moved across."""

    name = "xla.opt_barrier"
