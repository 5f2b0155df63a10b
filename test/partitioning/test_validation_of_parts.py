"""`--validate-each` across the border between the whole program and that of one device."""

import io

import pytest
from rank_checks import PARTS
from xdsl.dialects.builtin import ModuleOp

from lowerings.driver.context import make_context
from lowerings.driver.pass_manager import parse_passes
from lowerings.driver.program import parse_program
from lowerings.pipelines import NATIVE, PARTITIONING, pass_specs
from lowerings.validation import MeaningChanged, Validator
from lowerings.validation.execution import ExecutionInParts
from xla_dialect.ops.elementwise import AddOp, SubtractOp
from xla_dialect.xdsl.traversal import operations_in


def validated(validator: Validator, module: ModuleOp, passes: str) -> None:
    ctx = make_context()
    for module_pass in parse_passes(passes):
        validator.before(module_pass, module)
        module_pass.apply(ctx, module)
        validator.after(module_pass, module)


def test_parts_give_what_the_whole_gave(monkeypatch: pytest.MonkeyPatch) -> None:
    """All the way down to loops: the program of one device is run on all, and nothing is skipped."""
    runs: list[str] = []
    real = ExecutionInParts.__call__

    def noted(self: ExecutionInParts, arrays: object) -> object:
        runs.append(self.entry)
        return real(self, arrays)  # pyright: ignore[reportArgumentType]

    monkeypatch.setattr(ExecutionInParts, "__call__", noted)
    notes = io.StringIO()
    passes = [*PARTITIONING, *pass_specs(NATIVE)]
    validated(Validator(notes), parse_program(PARTS), ",".join(passes))
    assert all("values: " in line for line in notes.getvalue().splitlines())
    assert len(runs) >= len(pass_specs(NATIVE))


def test_wrong_parts_are_seen() -> None:
    validator, module = Validator(io.StringIO()), parse_program(PARTS)
    validated(validator, module, ",".join(PARTITIONING))
    (simplify,) = parse_passes("xla-simplify")
    add = next(op for op in operations_in(module) if isinstance(op, AddOp))
    other = SubtractOp.make(tuple(add.operands), {}, result_types=add.result_types)
    block = add.parent
    assert block is not None
    block.insert_op_before(other, add)
    add.results[0].replace_all_uses_with(other.results[0])
    block.erase_op(add)
    with pytest.raises(MeaningChanged, match="xla-simplify changes what @main computes"):
        validator.after(simplify, module)
