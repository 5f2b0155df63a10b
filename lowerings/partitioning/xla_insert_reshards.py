"""The pass `xla-insert-reshards`."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from typing import cast

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, SSAValue

from lowerings.partitioning.annotations import is_annotation, runs_on_parts
from lowerings.partitioning.costs import flops_of, trip_count
from lowerings.partitioning.factors import (
    Division,
    FactorAtoms,
)
from lowerings.partitioning.local_rules import Divisions, moved_bytes
from lowerings.partitioning.mesh_atoms import (
    Atoms,
    MeshAtoms,
    Spread,
    functions_over_mesh,
    static_sizes,
    whole,
)
from lowerings.partitioning.partition_warning import warn
from lowerings.partitioning.relations import fold_of
from lowerings.partitioning.resharding import is_reshard, plan, reshard, sent_bytes
from lowerings.partitioning.shifts import shift_divided
from lowerings.rewriting.levels import UNLOWERED
from lowerings.rewriting.passes import ReportingPass
from xla_dialect.analysis.manual_borders import ManualBorder, located_border
from xla_dialect.dimensions import DataFlowEdge, terminator
from xla_dialect.op import XlaOp
from xla_dialect.ops.control_flow import WhileOp
from xla_dialect.ops.data_movement import DynamicSliceOp
from xla_dialect.sharding.attributes import (
    parameter_shardings,
    result_shardings,
    returned_shardings,
    set_function_shardings,
    set_result_shardings,
)
from xla_dialect.sharding.mesh import AxisReference
from xla_dialect.types import Array, sizes_of
from xla_dialect.violations import described
from xla_dialect.xdsl.linking import erase, insert_before, replace_uses
from xla_dialect.xdsl.traversal import operands_of


class XlaInsertReshardsPass(ReportingPass):
    """
    Makes every change of a sharding an operation: a copy with the attribute `sdy.reshard`.

    Afterwards each operation can be computed by every device on its parts of the operands: their
    shardings agree on which axes divide which factor of the operation. Of the divisions that the
    operands and results ask for, the one is taken whose reshards send the fewest bytes, where 16
    floating-point operations count as a byte; among those the one that divides the most. Where a
    factor that is reduced is divided, the result is `unreduced`, and its reshard folds it. A result
    without a sharding gets that of its division; a factor that the partitioner cannot divide is
    gathered, with a warning that says what it costs.

    ```
    %0 = xla.dot %x, %w {...} attributes {sdy.sharding = <[<@mesh, [{"x"}, {}]>]>}
    // becomes, where the contracted dimension of both is split over "y"
    %0 = xla.dot %x, %w {...} attributes {sdy.sharding = <[<@mesh, [{"x"}, {}], unreduced={"y"}>]>}
    %1 = xla.copy %0 {sdy.reshard = "", sdy.sharding = <[<@mesh, [{"x"}, {}]>]>}
    ```
    """

    name = "xla-insert-reshards"
    takes = UNLOWERED

    def change(self, ctx: Context, op: ModuleOp) -> bool:
        """Goes through all functions; raises XlaError for shardings over several meshes."""
        found = list(functions_over_mesh(op))
        for function, mesh in found:
            shift_divided(function, mesh)
            _Insertion(mesh, Divisions(mesh)).function(function)
        return bool(found)


OPERATIONS_PER_BYTE = 16
"""How many floating-point operations a device does in the time that a byte takes, at least: what is
gathered to be computed by every device has to be that much less. docs/decisions.md has figures."""


@dataclass(eq=False)
class _Choice:
    """A division of an operation, and what it takes to get there."""

    divided: FactorAtoms
    operands: Sequence[Spread]
    results: Sequence[Spread]
    bytes: float
    parts: int


@dataclass(eq=False)
class _Insertion:
    """What is known of the values of a function while it is gone through."""

    mesh: MeshAtoms
    divisions: Divisions
    spreads: dict[SSAValue, Spread] = field(default_factory=dict[SSAValue, Spread])
    chosen: dict[Hashable, _Choice] = field(default_factory=dict["Hashable", _Choice])
    """For equal operations on what is spread alike: layers repeat themselves."""
    made: dict[tuple[Block | None, SSAValue, Spread], SSAValue] = field(
        default_factory=dict[tuple[Block | None, SSAValue, Spread], SSAValue]
    )

    def function(self, function: FuncOp) -> None:
        """Its parameters, its operations, and what it returns."""
        given = parameter_shardings(function)
        block = function.body.block
        for argument, sharding in zip(block.args, given, strict=True):
            self.spreads[argument] = self.mesh.spread_of(sharding, argument)
        wanted = returned_shardings(function)
        self.block(block)
        last = block.last_op
        assert isinstance(last, ReturnOp)
        for i, (value, sharding) in enumerate(zip(tuple(last.operands), wanted, strict=True)):
            if sharding is not None:
                self.use(last, i, self.mesh.spread_of(sharding, value))
        arguments = [self.mesh.sharding(self.spreads[a]) for a in block.args]
        returned = [self.mesh.sharding(self.spread_of(v)) for v in operands_of(last)]
        set_function_shardings(function, arguments, returned)

    def spread_of(self, value: SSAValue) -> Spread:
        """How a value is spread; whole where nothing was said."""
        return self.spreads.get(value) or whole(value)

    def block(self, block: Block) -> None:
        """All operations but the terminator."""
        for op in tuple(block.ops):
            if op is not block.last_op:
                self.operation(op)

    def use(self, op: Operation, i: int, wanted: Spread) -> None:
        """Lets an operation use an operand in another sharding."""
        value = operands_of(op)[i]
        op.operands[i] = self.resharded(value, wanted, op)

    def resharded(
        self, value: SSAValue, wanted: Spread, user: Operation, fold: str = "add"
    ) -> SSAValue:
        """The value in a sharding, made before a user unless it is there."""
        if self.spread_of(value) == wanted:
            return value
        key = user.parent, value, wanted
        found = self.made.get(key)
        if found is None:
            op = reshard(value, self.mesh, wanted, fold)
            found = self.made[key] = insert_before(op, user).result
            self.spreads[found] = wanted
        return found

    def operation(self, op: Operation) -> None:
        """Reshards what one operation takes and gives."""
        if is_reshard(op):
            sharding = (result_shardings(op) or (None,))[0]
            self.spreads[op.results[0]] = self.mesh.spread_of(sharding, op.results[0])
            return
        border = located_border(op)
        if border is not None:
            self.border(op, border)
        elif is_annotation(op):
            self.annotation(op)
        elif isinstance(op, XlaOp) and op.forwards_values():
            self.computations(op)
        elif runs_on_parts(op):
            pass
        elif (division := self.divisions.of(op)) is None:
            self.whole(op)
        else:
            self.divided(cast(XlaOp, op), division)

    def wanted_results(self, op: Operation) -> list[Spread | None]:
        """What is said of the results of an operation."""
        shardings = result_shardings(op)
        # What gives nothing may still say which device it runs on.
        if shardings is None or not op.results:
            return [None] * len(op.results)
        return [
            self.mesh.spread_of(sharding, result)
            for sharding, result in zip(shardings, op.results, strict=True)
        ]

    def annotation(self, op: Operation) -> None:
        """A value in the sharding that is asked for; of a group nothing is left to be done."""
        for result, said in zip(op.results, self.wanted_results(op), strict=True):
            spread = said or self.spread_of(op.operands[0])
            self.use(op, 0, spread)
            set_result_shardings(op, [self.mesh.sharding(spread)])
            self.spreads[result] = spread

    def border(self, op: Operation, border: ManualBorder) -> None:
        """Outside arrays are split as the border says, and as parts are by what is not manual."""
        manual = self.mesh.of_axes(map(AxisReference, border.manual_axes))
        wanted = self.wanted_results(op)
        produced: list[Spread] = []
        for i, (sharding, said) in enumerate(zip(border.shardings, wanted, strict=True)):
            least = self.mesh.spread(sharding, sharding.rank)
            sizes = static_sizes((op.results if border.is_cut else operands_of(op))[i].type)
            whole_dimensions: list[Atoms] = []
            for mine, theirs, size in zip(
                (said or least).dimensions, least.dimensions, sizes or (), strict=True
            ):
                cut = tuple(atom for atom in theirs if atom in manual)
                free = tuple(atom for atom in mine if atom not in manual)
                fits = not cut or size % self.mesh.parts(free) == 0
                whole_dimensions.append((*cut, *free) if fits else theirs)
            outer = Spread(tuple(whole_dimensions), least.unreduced)
            inner = Spread(
                tuple(tuple(a for a in atoms if a not in manual) for atoms in whole_dimensions)
            )
            self.use(op, i, outer if border.is_cut else inner)
            produced.append(inner if border.is_cut else outer)
        self.produce(op, produced, wanted)

    def whole(self, op: Operation) -> None:
        """Every device computes all of an operation."""
        wanted = self.wanted_results(op)
        cost = 0.0
        for i, value in enumerate(operands_of(op)):
            cost += sent_bytes(self.mesh, value, self.spread_of(value), whole(value))
            self.use(op, i, whole(value))
        if cost:
            _warn(op, "has no rule for its dimensions", cost)
        produced = [whole(result) for result in op.results]
        self.produce(op, produced, wanted)

    def produce(
        self, op: Operation, produced: Sequence[Spread], wanted: Sequence[Spread | None]
    ) -> None:
        """Notes what an operation gives; its users see what was said of the results."""
        following = op.next_op
        assert following is not None
        fold = (fold_of(op) if isinstance(op, XlaOp) else None) or "add"
        if op.results:
            set_result_shardings(op, [self.mesh.sharding(spread) for spread in produced])
        for result, spread, said in zip(op.results, produced, wanted, strict=True):
            self.spreads[result] = spread
            after = said or Spread(spread.dimensions)
            if after == spread and (fold == "add" or not spread.unreduced):
                continue
            users = [(use.operation, use.index) for use in result.uses]
            # What others ask for in terms are terms of a sum, not those of another fold.
            first = after if fold == "add" else Spread(after.dimensions)
            found = self.resharded(result, first, following, fold)
            found = self.resharded(found, after, following)
            found.owner.location = op.location  # pyright: ignore
            for user, index in users:
                user.operands[index] = found

    def divided(self, op: XlaOp, division: Division) -> None:
        """Finds the cheapest division, and reshards to it."""
        operands = [self.spread_of(value) for value in operands_of(op)]
        wanted = self.wanted_results(op)
        key = division, tuple(operands), tuple(wanted)
        choice = self.chosen.get(key)
        if choice is None:
            choice = self.chosen[key] = self.choice(op, division, operands, wanted)
        if choice.bytes:
            self.explain(op, division, operands, choice)
        for i, spread in enumerate(choice.operands):
            self.use(op, i, spread)
        self.produce(op, choice.results, wanted)

    def choice(
        self,
        op: XlaOp,
        division: Division,
        operands: Sequence[Spread],
        wanted: Sequence[Spread | None],
    ) -> _Choice:
        """The division of the least cost, among those the one into the most parts."""
        results = [
            spread or whole(result) for spread, result in zip(wanted, op.results, strict=True)
        ]
        asked = (atom for spread in (*operands, *results) for atom in spread.used)
        most = self.mesh.parts(set(asked))
        work = flops_of(op) / OPERATIONS_PER_BYTE
        best: _Choice | None = None
        least = 0.0
        for divided in division.candidates(operands, results):
            mine = division.operand_spreads(divided)
            made = division.result_spreads(divided)
            cost = moved_bytes(division, divided)
            for value, before, after in zip(operands_of(op), operands, mine, strict=True):
                cost += sent_bytes(self.mesh, value, before, after)
            for result, spread, said in zip(op.results, made, wanted, strict=True):
                cost += sent_bytes(self.mesh, result, spread, said or Spread(spread.dimensions))
            parts = self.mesh.parts(atom for atoms in divided.values() for atom in atoms)
            weighed = cost + work / parts
            if best is None or (weighed, -parts) < (least, -best.parts):
                best, least = _Choice(divided, mine, made, cost, parts), weighed
            if not cost and parts == most:
                break
        assert best is not None
        return best

    def explain(
        self, op: XlaOp, division: Division, operands: Sequence[Spread], choice: _Choice
    ) -> None:
        """Warns of what is gathered because the partitioner cannot divide it."""
        for i, (before, after) in enumerate(zip(operands, choice.operands, strict=True)):
            for d, atoms in enumerate(before.dimensions):
                if not atoms or after.dimensions[d] == atoms:
                    continue
                said = division.said_by(division.relations.operands[i][d], atoms)
                if not all(division.admits(division, *each) for each in said):
                    cost = sent_bytes(self.mesh, op.operands[i], before, after)
                    _warn(op, f"needs all of dimension {d} of operand {i}", cost)

    def computations(self, op: XlaOp) -> None:
        """Each data-flow edge has one sharding: that of its result, or of what it starts from."""
        shardings = self.wanted_results(op)
        on_edges = {edge.result: edge for edge in op.data_flow_edges()}
        wanted: dict[tuple[Operation, int], Spread] = {}
        produced: list[Spread] = []
        for result, said in zip(op.results, shardings, strict=True):
            edge = on_edges[result]
            first = edge.sources[0]
            started = self.spread_of(first.value) if first.operation is op else None
            spread = said or started or whole(result)
            if started is not None:
                # Propagation says nothing of terms: they stay terms until somebody asks for sums.
                terms = spread.unreduced | (started.unreduced - spread.used)
                spread = replace(spread, unreduced=terms)
            spread = spread_in_loop(self.mesh, op, edge, spread)
            produced.append(spread)
            for parameter in edge.parameters:
                self.spreads[parameter] = spread
            wanted.update({(source.operation, source.number): spread for source in edge.sources})
        for edge in op.data_flow_edges():
            if edge.result is None:
                spread = self.spread_of(edge.sources[0].value)
                for parameter in edge.parameters:
                    self.spreads[parameter] = spread
                wanted.update({(s.operation, s.number): spread for s in edge.sources})
        for i, value in enumerate(operands_of(op)):
            self.use(op, i, wanted.get((op, i)) or whole(value))
        for region in op.regions:
            self.block(region.block)
            last = region.block.last_op
            assert last is not None
            for i, value in enumerate(operands_of(last)):
                self.use(last, i, wanted.get((last, i)) or whole(value))
        if isinstance(op, WhileOp):
            produced = [self.hoist(op, i) or spread for i, spread in enumerate(produced)]
        self.produce(op, produced, produced)

    def hoist(self, op: WhileOp, i: int) -> Spread | None:
        """
        Reshards what a loop carries along before the loop, not in each iteration; the new spread.

        None where the loop needs it as it is, too.
        """
        in_condition, parameter = op.condition.block.args[i], op.body.block.args[i]
        last = terminator(op.body)
        users = [use.operation for use in parameter.uses if use.operation is not last]
        returned = [j for j, value in enumerate(operands_of(last)) if value is parameter]
        if any(in_condition.uses) or returned != [i] or len(users) != 1:
            return None
        (user,) = users
        if not is_reshard(user) or user.parent is not parameter.block:
            return None
        spread = self.spreads[user.results[0]]
        replace_uses(user.results[0], parameter)
        erase(user)
        self.spreads[in_condition] = self.spreads[parameter] = spread
        self.use(op, i, spread)
        return spread


def _warn(op: Operation, reason: str, cost: float) -> None:
    warn(f"{described(op)} {reason}: a device sends {round(cost):,} bytes to gather it")


def spread_in_loop(mesh: MeshAtoms, op: XlaOp, edge: DataFlowEdge, spread: Spread) -> Spread:
    """
    How the values of a data-flow edge are spread that would be spread so.

    Of a dimension that is split, devices fold each slice. Where a loop takes slices of one array,
    and their folds are more bytes than to gather it, they have all of it from before the loop on.
    """
    trips = trip_count(op) if isinstance(op, WhileOp) and any(spread.dimensions) else None
    if trips is None:
        return spread
    last = terminator(cast(WhileOp, op).body)
    parameter = next(each for each in edge.parameters if each.block is last.parent)
    if parameter not in [source.value for source in edge.sources if source.operation is last]:
        return spread
    type_, sent, whole = cast(Array, parameter.type), 0.0, spread
    for use in parameter.uses:
        taken = use.operation
        if not isinstance(taken, DynamicSliceOp) or use.index:
            continue
        result, rest = cast(Array, taken.result.type), spread
        for d, size in enumerate(sizes_of(result)):
            if size != sizes_of(type_)[d]:
                rest, whole = rest.with_dimension(d, ()), whole.with_dimension(d, ())
        terms = Spread(rest.dimensions, spread.used - rest.used)
        sent += trips * plan(mesh, result, terms, rest).bytes
    return whole if plan(mesh, type_, spread, whole).bytes < sent else spread
