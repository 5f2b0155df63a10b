"""The pass `linalg-plan-fusion`."""

from __future__ import annotations

from dataclasses import dataclass, replace

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from lowerings.rewriting.levels import ON_TENSORS
from lowerings.tensors.fusion_decisions import (
    ALONE,
    GROUP,
    INLINE,
    FusionDecision,
    set_decision,
    take_decisions,
)
from lowerings.tensors.fusion_plan import FusionPlan, FusionRemark, FusionRemarks
from lowerings.tensors.linalg_fuse_producers_and_siblings import fuse


@dataclass(frozen=True)
class LinalgPlanFusionPass(ModulePass):
    """
    Writes on every operation what `linalg-fuse-producers-and-siblings` would do with it.

    `fusion.group` is the number of the operation that stores its results, for all operations with
    that number together; one with `fusion.inline` is computed in the bodies of its users. Both may
    be edited, and are done as they are written; `fusion.alone` keeps an operation as it is.
    Operations that carry a decision keep it.

    ```
    %e = linalg.generic {.. parallel, parallel} ins(%x) ...  { exp }
    %s = linalg.generic {.. parallel, reduction} ins(%e) ... { addf }
    // becomes
    %e = linalg.generic {.. parallel, parallel} ins(%x) attrs = {fusion.group = 0} ...  { exp }
    %s = linalg.generic {.. parallel, reduction} ins(%e) attrs = {fusion.group = 0} ... { addf }
    ```
    """

    name = "linalg-plan-fusion"
    takes = ON_TENSORS

    file: str = ""
    """A file of decisions for operations that carry none."""
    print_reasons: bool = False
    """Says on stderr what is computed with what, and why or why not."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        take_decisions(self.file, op)
        copy, originals = _copy(op)
        remarks = FusionRemarks(copy)

        def planned(plan: FusionPlan) -> None:
            remarks.number_groups(plan)
            if self.print_reasons:
                remarks.print_plan(plan)
            _write(plan, originals)

        fuse(copy, planned)


def fusion_remarks(module: ModuleOp, file: str = "") -> list[FusionRemark]:
    """
    What is said of the operations of a module where fusion is planned, with the decisions of a
    file; the module stays as it is. Raises what the passes raise.
    """
    copy, originals = _copy(module)
    take_decisions(file, copy)
    remarks, found = FusionRemarks(copy), list[FusionRemark]()
    fuse(copy, lambda plan: found.extend(remarks.on(plan)))
    return [replace(each, op=originals[each.op]) for each in found if each.op in originals]


def _copy(module: ModuleOp) -> tuple[ModuleOp, dict[Operation, Operation]]:
    """
    A copy, and what its operations are copies of. Planning fuses it: what inner blocks see of outer
    ones depends on what becomes of those.
    """
    copy = module.clone()
    return copy, dict(zip(copy.walk(), module.walk(), strict=True))


def _write(plan: FusionPlan, originals: dict[Operation, Operation]) -> None:
    """Makes the originals of nodes carry what a plan says of them."""
    for placement in plan.placements:
        group = placement.group
        if group is None:
            decision = FusionDecision(INLINE)
        elif group.is_alone:
            decision = FusionDecision(ALONE)
        else:
            decision = FusionDecision(GROUP, group.number)
        set_decision(originals[placement.node.op], decision)
