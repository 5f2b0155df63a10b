"""The steps of scripts that match, group and annotate operations, and run sequences and passes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import chain, zip_longest
from operator import eq, ge, gt, le, lt, ne
from typing import Any, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    BoolAttr,
    DictionaryAttr,
    FloatAttr,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    UnitAttr,
)
from xdsl.dialects.linalg.abstract_ops import LinalgStructuredOperation
from xdsl.dialects.scf import ForOp, ParallelOp, WhileOp
from xdsl.dialects.transform import (
    MATCH_INTERFACES,
    ApplyRegisteredPassOp,
    MatchInterfaceEnum,
    MatchOp,
    OperationType,
)
from xdsl.ir import Attribute, Operation
from xdsl.traits import IsolatedFromAbove
from xdsl.utils.exceptions import DiagnosticException, VerifyException

from lowerings.dialects.transform_extension import (
    FAILURES,
    PREDICATES,
    AnnotateOp,
    CastOp,
    ForeachMatchOp,
    ForeachOp,
    GetParentOp,
    IncludeOp,
    KnobOp,
    MatchOperationEmptyOp,
    MatchOperationNameOp,
    MatchParamCmpIOp,
    MergeHandlesOp,
    ParamConstantOp,
    SplitHandleOp,
)
from lowerings.rewriting.passes import run_pass
from lowerings.scheduling.script import (
    Handle,
    Payload,
    Script,
    SilenceableFailure,
    Steps,
    operations_of,
)
from xla_dialect.diagnostics import XlaError
from xla_dialect.xdsl.traversal import ancestors

_INTERFACES: Mapping[MatchInterfaceEnum, tuple[type[Operation], ...]] = {
    MatchInterfaceEnum.LINALG_OP: (LinalgStructuredOperation,),
    MatchInterfaceEnum.TILING_INTERFACE: (LinalgStructuredOperation,),
    MatchInterfaceEnum.LOOP_LIKE_INTERFACE: (ForOp, ParallelOp, WhileOp),
}


def _attribute(op: Operation, name: str) -> Attribute | None:
    return op.properties.get(name, op.attributes.get(name))


def _post_order(root: Operation) -> list[Operation]:
    return list(root.walk(region_first=True))


def _match(script: Script, step: MatchOp, given: Sequence[Handle]) -> Sequence[Handle]:
    roots = list(operations_of(script, step, given[0]))
    if len(roots) != 1:
        script.fail(step, f"it is matched in one operation; the handle has {len(roots)}")
    names = None if step.ops is None else {name.data for name in step.ops}
    classes = (
        (Operation,)
        if step.interface is None
        else _INTERFACES[MATCH_INTERFACES[step.interface.value.data]]
    )
    wanted: Mapping[str, Attribute] = {} if step.op_attrs is None else step.op_attrs.data
    result, operands = step.filter_result_type, step.filter_operand_types

    def has_types(op: Operation) -> bool:
        types = [operand.type for operand in op.operands]
        if operands is not None:
            # A single type stands for all operands.
            expected = operands.data * len(types) if len(operands) == 1 else operands.data
            if tuple(types) != tuple(expected):
                return False
        return result is None or [each.type for each in op.results] == [result]

    return [
        tuple(
            op
            for op in _post_order(roots[0])
            if (names is None or op.name in names)
            and isinstance(op, classes)
            and all(_attribute(op, name) == value for name, value in wanted.items())
            and has_types(op)
        )
    ]


def _match_name(script: Script, step: MatchOperationNameOp, given: Sequence[Handle]) -> None:
    names = [name.data for name in step.op_names]
    for op in operations_of(script, step, given[0]):
        if op.name not in names:
            script.fail(step, f"it is none of {', '.join(names)}", op)


def _match_empty(script: Script, step: MatchOperationEmptyOp, given: Sequence[Handle]) -> None:
    for payload in given[0]:
        script.fail(step, "the handle is not empty", payload)


_COMPARISONS: Sequence[Callable[[int, int], bool]] = (eq, ne, lt, le, gt, ge)
"""As `PREDICATES`."""


def _match_param(script: Script, step: MatchParamCmpIOp, given: Sequence[Handle]) -> None:
    number = step.predicate.value.data
    for left, right in zip(given[0], given[1], strict=True):
        reference = _integer(script, step, right)
        if not _COMPARISONS[number](_integer(script, step, left), reference):
            script.fail(step, f"is not {PREDICATES[number]} {reference}", left)


def _integer(script: Script, step: Operation, payload: Payload) -> int:
    if not isinstance(payload, IntegerAttr):
        script.fail(step, "parameters that are compared are integers")
    return payload.value.data


def _annotate(script: Script, step: AnnotateOp, given: Sequence[Handle]) -> None:
    value: Payload = UnitAttr()
    if len(given) > 1:
        if len(given[1]) != 1:
            script.fail(step, f"one parameter is expected; the handle has {len(given[1])}")
        (value,) = given[1]
    assert isinstance(value, Attribute)
    for op in operations_of(script, step, given[0]):
        op.attributes[step.attribute.data] = value


def _cast(script: Script, step: CastOp, given: Sequence[Handle]) -> Sequence[Handle]:
    wanted = step.output.type
    for op in operations_of(script, step, given[0]):
        if isinstance(wanted, OperationType) and wanted.operation.data != op.name:
            script.fail(step, f"it is no {wanted.operation.data}", op)
    return given


def _get_parent(script: Script, step: GetParentOp, given: Sequence[Handle]) -> Sequence[Handle]:
    found: list[Operation] = []
    for op in operations_of(script, step, given[0]):
        places = [op, *(each for each in ancestors(op) if _is_wanted(step, each))]
        if 0 <= (number := step.nth_parent.value.data) < len(places):
            found.append(places[number])
        elif step.allow_empty_results is None:
            script.fail(step, "nothing around it is what is asked for", op)
    handle: Sequence[Payload] = found
    return [tuple(dict.fromkeys(handle) if step.deduplicate is not None else handle)]


def _is_wanted(step: GetParentOp, parent: Operation) -> bool:
    if step.isolated_from_above is not None and not parent.has_trait(IsolatedFromAbove):
        return False
    return step.op_name is None or parent.name == step.op_name.data


def _merge(script: Script, step: MergeHandlesOp, given: Sequence[Handle]) -> Sequence[Handle]:
    merged = [payload for handle in given for payload in handle]
    return [tuple(dict.fromkeys(merged) if step.deduplicate is not None else merged)]


def _split(script: Script, step: SplitHandleOp, given: Sequence[Handle]) -> Sequence[Handle]:
    (handle,) = given
    count = len(step.results_)
    if not handle and step.pass_through_empty_handle.value.data:
        return [()] * count
    if len(handle) < count and not step.fail_on_payload_too_small.value.data:
        return [(payload,) for payload in handle] + [()] * (count - len(handle))
    overflow = None if step.overflow_result is None else step.overflow_result.value.data
    if len(handle) < count or (len(handle) > count and overflow is None):
        message = f"the handle has {len(handle)} operations, to be split in {count}"
        script.fail(step, message, *handle[:1])
    parts: list[list[Payload]] = [[payload] for payload in handle[:count]]
    for payload in handle[count:]:
        assert overflow is not None
        parts[overflow].append(payload)
    return [tuple(part) for part in parts]


def _constant(script: Script, step: ParamConstantOp, given: Sequence[Handle]) -> Sequence[Handle]:
    return [(step.value,)]


def _knob(script: Script, step: KnobOp, given: Sequence[Handle]) -> Sequence[Handle]:
    name, given_options = step.knob.data, step.options
    if not isinstance(given_options, ArrayAttr):
        script.fail(step, f"options are an array; found {given_options}")
    options = cast("ArrayAttr[Attribute]", given_options).data
    texts = {_text(option): option for option in options}
    script.settled.add(name)
    wanted = script.knobs.get(name)
    if wanted is None:
        if step.selected is None:
            script.fail(step, f'nothing is selected for "{name}"; the option knobs can: {name}=...')
        return [(step.selected,)]
    if wanted not in texts:
        script.fail(step, f'"{name}" cannot be {wanted}; its options: {", ".join(texts)}')
    return [(texts[wanted],)]


def _text(option: Attribute) -> str:
    """An option as the command line spells it: without its type."""
    match option:
        case IntegerAttr() | FloatAttr():
            return str(option.value.data)
        case StringAttr():
            return option.data
        case _:
            return str(option)


def _include(script: Script, step: IncludeOp, given: Sequence[Handle]) -> Sequence[Handle]:
    try:
        return script.run_sequence(step.target.string_value(), given, step)
    except SilenceableFailure:
        if FAILURES[step.failure_propagation_mode.value.data] == "propagate":
            raise
    return [()] * len(step.results_)


def _foreach(script: Script, step: ForeachOp, given: Sequence[Handle]) -> Sequence[Handle]:
    counts = [len(handle) for handle in given]
    if len(set(counts)) > 1 and step.with_zip_shortest is None:
        script.fail(step, f"handles that go side by side have {counts} operations")
    rows = [
        script.run_block(step.body.block, [(payload,) for payload in payloads])
        for payloads in zip(*given, strict=False)
    ]
    return _joined(rows, len(step.results_))


def _joined(rows: Sequence[Sequence[Handle]], count: int) -> Sequence[Handle]:
    """What several runs yield, one after the other; so many empty handles where there was none."""
    columns = zip_longest(*rows, fillvalue=()) if rows else [()] * count
    return [tuple(chain.from_iterable(column)) for column in columns]


def _foreach_match(
    script: Script, step: ForeachMatchOp, given: Sequence[Handle]
) -> Sequence[Handle]:
    root, *forwarded = given
    pairs = [
        (matcher.string_value(), action.string_value())
        for matcher, action in zip(step.matchers, step.actions, strict=True)
    ]
    rows: list[Sequence[Handle]] = []
    for top in operations_of(script, step, root):
        candidates = [top] if step.restrict_root is not None else _post_order(top)[:-1]
        for op in candidates:
            for matcher, action in pairs:
                try:
                    matched = script.run_sequence(matcher, [(op,), *forwarded], step)
                except SilenceableFailure:
                    continue
                rows.append(script.run_sequence(action, matched, step))
                break
    return [root, *_joined(rows, len(step.forwarded_outputs))]


def _apply_pass(
    script: Script, step: ApplyRegisteredPassOp, given: Sequence[Handle]
) -> Sequence[Handle]:
    # The pass may rely on schedules, and take away what they are of.
    script.check_schedules()
    script.scheduled.clear()
    name = step.pass_name.data
    try:
        module_pass = script.find_pass(name, _options(script, step, step.options))
    except XlaError as error:
        script.fail(step, str(error))
    for op in operations_of(script, step, given[0]):
        if not isinstance(op, ModuleOp):
            script.fail(step, f"pass {name} runs on builtin.module", op)
        try:
            run_pass(module_pass, script.ctx, op)
            op.verify()
        except (DiagnosticException, VerifyException) as error:
            script.fail(step, f"pass {name}: {error}")
    return given


def _options(script: Script, step: Operation, options: DictionaryAttr) -> Mapping[str, Any]:
    """The options of a pass as its specification takes them."""

    def values(value: Attribute) -> tuple[Any, ...]:
        match value:
            case ArrayAttr():
                return tuple(each for element in value.data for each in values(element))
            case IntegerAttr() if value.type == BoolAttr.from_bool(True).type:
                return (bool(value.value.data),)
            case IntegerAttr() | FloatAttr():
                return (value.value.data,)
            case StringAttr():
                return (value.data,)
            case _:
                script.fail(step, f"{value} is no option of a pass")

    return {name: values(value) for name, value in options.data.items()}


READING_STEPS: Steps = {
    AnnotateOp: _annotate,
    CastOp: _cast,
    ForeachOp: _foreach,
    GetParentOp: _get_parent,
    IncludeOp: _include,
    KnobOp: _knob,
    MatchOp: _match,
    MatchOperationEmptyOp: _match_empty,
    MatchOperationNameOp: _match_name,
    MatchParamCmpIOp: _match_param,
    MergeHandlesOp: _merge,
    ParamConstantOp: _constant,
    SplitHandleOp: _split,
}

CONSUMING_STEPS: Steps = {ApplyRegisteredPassOp: _apply_pass, ForeachMatchOp: _foreach_match}
