"""
The way down of a function: from the xla level, or from wherever a pipeline has left it, to that of
loops.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from functools import cache
from itertools import takewhile
from typing import cast

from xdsl.dialects import memref, tensor
from xdsl.dialects.builtin import FunctionType, MemRefType, ModuleOp, TensorType, UnitAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue
from xdsl.passes import ModulePass

from lowerings.backends import Donation, Options
from lowerings.bufferize.xla_plan_buffers import XlaPlanBuffersPass, unplannable
from lowerings.driver import CompilationError
from lowerings.driver.context import make_context
from lowerings.driver.entry import isolate_entry
from lowerings.driver.levels import level_of, wrong_level
from lowerings.driver.pass_manager import (
    PassManager,
    PipelinePass,
    machine_target,
    parse_passes,
    parse_pipeline,
)
from lowerings.driver.pass_options import FUSION, SCHEDULES, with_script, with_values
from lowerings.execution.dynamic_sizes import (
    LoweredSignatures,
    RunTimeCheck,
    run_time_checks,
    static_signature,
)
from lowerings.execution.function_signature import signature_of, with_memory_orders
from lowerings.execution.loops_compiler import aliased_results
from lowerings.execution.signature import Signature
from lowerings.expand.xla_expand_dynamic_dimensions import has_dynamic_dimensions
from lowerings.ir.functions import ENTRY, functions_of
from lowerings.layouts.entry_layout import entry_type
from lowerings.pipelines import LEVELS, NATIVE, pass_specs, stages_between, with_profile
from lowerings.rewriting.conversion import ConversionBuilder
from lowerings.rewriting.levels import ON_BUFFERS, Level
from lowerings.rewriting.passes import FunctionPass
from lowerings.simplify.xla_flatten_tuples import donate_only
from lowerings.targets.llvm.machine import Machine
from lowerings.xla_to_linalg.structured import fill
from xla_dialect.entry import ENTRY_SYMBOL
from xla_dialect.ops.collectives import process_counts
from xla_dialect.runtime.runs import entry_function
from xla_dialect.xdsl.linking import insert_before
from xla_dialect.xdsl.traversal import inventory, operations_in

_EXECUTABLE = "expand-small-floats,expand-math"
"""What brings loops, whoever wrote them, to operations that machine code has."""


def level_reached(module: ModuleOp, pipeline: Sequence[PipelinePass]) -> Level | None:
    """
    The level at which a pipeline has left a module: that of the last pass of a named pipeline, if
    the module is at that one. None for the xla level, before the passes that lead to it.
    """
    found = level_of(module)
    levels = [each.group[1] for each in pipeline if each.group]
    last = levels[-1] if levels else None
    if found == LEVELS[0]:
        return found if last == found else None
    # To have a schedule shows in no type.
    return "schedules" if (found, last) == ("buffers", "schedules") else found


def unplanned_buffers(module: ModuleOp, here: Level | None) -> tuple[ModulePass, ...]:
    """
    The pass that gives allocations a place in an arena, if there are any and all can have one: what
    is allocated in a call would never be freed, unless the program does it.
    """
    if here not in ON_BUFFERS or not any(
        type(op) is memref.AllocOp for op in operations_in(module)
    ):
        return ()
    return () if unplannable(module) else (XlaPlanBuffersPass(),)


def continuing(module: ModuleOp) -> str:
    """The pipeline that brings a module, of whatever level, to that of machine code."""
    here = level_of(module)
    if here == LEVELS[0]:
        return "native"
    first = (str(each.spec()) for each in unplanned_buffers(module, here))
    return ",".join((*first, _EXECUTABLE if here == LEVELS[-1] else f"native{{from={here}}}"))


def finishing(here: Level | None, level: str) -> tuple[ModulePass, ...]:
    """The passes for a module that was at the level of machine code already."""
    return parse_passes(_EXECUTABLE) if here == level == NATIVE[-1].level else ()


class Lowering:
    """
    A function on its way down the native pipeline, as the `@main` of its module.

    It may start at any level, and with a pipeline of its own. Executors of several levels can share
    it: each gets its program when the module is at its level, and that program is of use until the
    module is lowered further.
    """

    def __init__(
        self,
        module: ModuleOp,
        entry: str,
        machine: Machine,
        options: Options | None = None,
        name: str | None = None,
    ):
        """
        `machine`: what it is lowered for; `options`: what they say of passes, and of what callers
        give away; `name`: what callers know the function by, if it is another.
        """
        self.module, self._machine = module, machine
        self._options = options = options or Options()
        machine_target(machine, flush_subnormals=options.flush_subnormals).attach(module)
        self._pipeline = options.pipeline
        """The pipeline that comes first, until it was run."""
        found = level_of(module)
        self.level: Level | None = None if found == LEVELS[0] else found
        """The level that it has been brought to, if any."""
        self.is_entered_below = self.level is not None
        """Whether it was below the xla level when it was given."""
        signature = signature_in(module, entry)
        self.signature = replace(signature, name=name or entry)
        """What callers see, before anything is known of aliases."""
        self.process_counts = process_counts(module)
        """How many replicas, and partitions of each, it is for."""
        donate = options.donate
        if donate != "aliased":
            _check_donated(donate, self.signature)
        isolate_entry(module, entry)
        self._checks: tuple[RunTimeCheck, ...] = ()
        if self.is_entered_below:
            self._enter_below(donate)
        else:
            self._enter(donate)

    def _enter(self, donate: Donation) -> None:
        """What is done at the xla level, whatever follows."""
        module = self.module
        manager = PassManager(make_context(), verify_each=False)
        if self._options.profile:
            manager.run(module, parse_passes("xla-name-operations"))
        if donate:
            # Aliases count the parameters and results that the signature has.
            manager.run(module, parse_passes("xla-inline,xla-flatten-tuples"))
        if donate != "aliased":
            donate_only(module, functions_of(module)[ENTRY_SYMBOL], donate)
        if has_dynamic_dimensions(module):
            # Callers need to know what the pass finds; nothing is left of it further down.
            manager.run(module, parse_passes(_WITHOUT_DYNAMIC_DIMENSIONS))
            self._checks = run_time_checks(functions_of(module)[ENTRY_SYMBOL])

    def _enter_below(self, donate: Donation) -> None:
        main = functions_of(self.module)[ENTRY_SYMBOL]
        kinds = set(map(type, inventory(self.module).types))
        if TensorType not in kinds:
            # What has scalars alone is of any level.
            self.level = self.level if MemRefType in kinds else LEVELS[-1]
        pass_scalars_as_arrays(main, on_memory=self.level != "tensors")
        if self.level == "tensors":
            if donate != "aliased":
                donate_only(self.module, main, donate)
            return
        if donate not in ("aliased", ()):
            raise CompilationError(
                f"at the level '{self.level}' it is decided whose memory results take: "
                "nothing else can be given away"
            )
        # A function on memory that was written by hand may not say that it is called from outside.
        main.attributes[ENTRY] = UnitAttr()

    def begin(self) -> Level | None:
        """
        Runs the pipeline that comes first, if there is one; the level where the module is then,
        None where it is at the xla level, before the passes of that level.

        Raises PipelineError and PassFailed.
        """
        if self._pipeline is not None:
            pipeline = parse_pipeline(self._pipeline)
            self._pipeline = None
            passes = self._with_options(pipeline)
            self._run(passes, PassManager(make_context()))
            self.level = level_reached(self.module, pipeline)
        return self.level

    def to(self, level: str) -> LoweredSignatures:
        """Brings the function to a level; raises WrongLevel where it is below."""
        # What is printed for LLVM, LLVM verifies.
        manager = PassManager(make_context(), verify_each=False, verify_last=level != LEVELS[-1])
        lowered = self.run(self._passes_to(level), manager)
        self.level = cast(Level, level)
        return lowered

    def to_functions(self) -> tuple[LoweredSignatures, Callable[[FuncOp], None]]:
        """
        Brings the function to the last level, but for passes that work on each function of the
        module by itself: what runs these on one is the second.
        """
        passes = self._passes_to(LEVELS[-1])
        alone = [*takewhile(lambda each: isinstance(each, FunctionPass), reversed(passes))][::-1]
        manager = PassManager(make_context(), verify_each=False, verify_last=False)
        lowered = self.run(passes[: len(passes) - len(alone)], manager)
        self.level = LEVELS[-1]
        return lowered, manager.on_functions(self.module, cast("list[FunctionPass]", alone))

    def _passes_to(self, level: str) -> Sequence[ModulePass]:
        """The passes to a level, behind those that come first; raises WrongLevel."""
        here = self.begin()
        if here is not None and LEVELS.index(here) > LEVELS.index(cast(Level, level)):
            raise wrong_level(self.module, here, f"a module cannot be brought up to '{level}'")
        passes = _native_passes(here, level, self._options.profile)
        if self._options.pipeline is not None or self.is_entered_below:
            passes = (*unplanned_buffers(self.module, here), *passes, *finishing(here, level))
        return self._with_options([*map(PipelinePass, passes)])

    def _with_options(self, pipeline: Sequence[PipelinePass]) -> Sequence[ModulePass]:
        """Passes with what files say of schedules and fusion, and the script."""
        options = self._options
        if options.schedules is not None:
            given = {"file": str(options.schedules), "processor": self._machine.processor}
            pipeline = with_values(pipeline, SCHEDULES, **given)
        if options.fusion is not None:
            pipeline = with_values(pipeline, FUSION, file=str(options.fusion))
        pipeline = with_script(pipeline, options.transform_script, at_the_end=False)
        return [each.module_pass for each in pipeline]

    def run(self, passes: Sequence[ModulePass], manager: PassManager) -> LoweredSignatures:
        """Runs passes, of whatever pipeline, on the function: the next on its way."""
        self._run(passes, manager)
        return self._signatures()

    def _run(self, passes: Sequence[ModulePass], manager: PassManager) -> None:
        manager.run(self.module, passes)
        if ENTRY_SYMBOL not in functions_of(self.module):
            raise CompilationError(f"a pass has removed the function @{ENTRY_SYMBOL}")

    def _signatures(self) -> LoweredSignatures:
        signature = self.signature
        static = static_signature(signature, has_status=bool(self._checks))
        main = functions_of(self.module)[ENTRY_SYMBOL]
        aliases = aliased_results(main, len(static.parameters))
        known = replace(signature, aliases=aliases)
        in_memory = known if static is signature else replace(static, aliases=aliases)
        return LoweredSignatures(known, in_memory, self._checks)


_WITHOUT_DYNAMIC_DIMENSIONS = (
    "xla-inline{everything=true},xla-flatten-tuples,xla-expand-dynamic-dimensions"
)
"""The first passes of the native pipeline."""


def _check_donated(donate: Collection[int], signature: Signature) -> None:
    for number in donate:
        if not 0 <= number < len(signature.parameters):
            raise CompilationError(
                f"there is no parameter {number} to give away; the signature is {signature}"
            )


def signature_in(module: ModuleOp, entry: str) -> Signature:
    """
    The signature of a function of any level, with the layouts that its callers see.

    Raises XlaError where there is none of this name.
    """
    function = entry_function(module, entry)
    if level_of(module) == LEVELS[0]:
        return signature_of(function, entry_type(module, function))
    from lowerings.interpreter.program import signature_below  # noqa: PLC0415

    return with_memory_orders(signature_below(module, entry), function)


@cache
def _native_passes(after: Level | None, level: str, profile: bool) -> tuple[ModulePass, ...]:
    """
    The native pipeline from after a level down to another, with the passes for a profile where it
    is asked for.
    """
    stages = stages_between(with_profile(NATIVE) if profile else NATIVE, after, level)
    return parse_passes(",".join(pass_specs(stages)))


def pass_scalars_as_arrays(function: FuncOp, on_memory: bool) -> None:
    """
    Has a function below the xla level take and return each scalar as an array: a tensor or,
    `on_memory`, a memref, results behind the parameters. A function that takes memrefs and returns
    scalars stays as it is there.
    """
    type_ = function.function_type
    returns = any(not _is_array(each) for each in type_.outputs)
    if all(map(_is_array, type_.inputs)) and not returns:
        return
    if on_memory and returns and any(map(_is_array, type_.inputs)):
        return
    first = function.body.blocks[0]
    for argument in tuple(first.args):
        if not _is_array(argument.type):
            _pass_as_array(argument, first, on_memory)
    outputs = list(type_.outputs)
    ends = [block.last_op for block in function.body.blocks]
    terminators = [op for op in ends if isinstance(op, ReturnOp)]
    if on_memory:
        results = [first.insert_arg(MemRefType(each, ()), len(first.args)) for each in outputs]
        outputs.clear()
        for terminator in terminators:
            _store_results(terminator, results)
    else:
        outputs = [each if _is_array(each) else TensorType(each, ()) for each in outputs]
        for terminator in terminators:
            builder = ConversionBuilder(cast(ModuleOp, function.parent_op()), terminator)
            terminator.operands = [
                each if _is_array(each.type) else fill(builder, each, TensorType(each.type, ()))
                for each in terminator.operands
            ]
    inputs = [argument.type for argument in first.args]
    function.function_type = FunctionType.from_lists(inputs, outputs)
    function.res_attrs = function.res_attrs if outputs else None


def _is_array(type_: Attribute) -> bool:
    return isinstance(type_, TensorType | MemRefType)


def _pass_as_array(argument: BlockArgument, block: Block, has_memory: bool) -> None:
    scalar: Attribute = argument.type
    array = MemRefType(scalar, ()) if has_memory else TensorType(scalar, ())
    passed = block.insert_arg(array, argument.index)
    passed.name_hint = argument.name_hint
    load = memref.LoadOp.get(passed, ()) if has_memory else tensor.ExtractOp(passed, (), scalar)
    insert_before(load, cast(Operation, block.first_op))
    argument.replace_all_uses_with(load.results[0])
    block.erase_arg(argument)


def _store_results(terminator: ReturnOp, results: Sequence[SSAValue]) -> None:
    for value, result in zip(terminator.operands, results, strict=True):
        insert_before(memref.StoreOp.get(value, result, ()), terminator)
    terminator.operands = ()
