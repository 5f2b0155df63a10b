"""Passes that stand in files: a class in Python, or rules of the dialect `pdl`."""

from __future__ import annotations

import inspect
import traceback
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from runpy import run_path
from typing import Any, cast

from xdsl.context import Context
from xdsl.dialects import pdl
from xdsl.dialects.builtin import ModuleOp, UnknownLoc
from xdsl.interpreter import Interpreter, InterpreterFunctions, impl, register_impls
from xdsl.interpreters.pdl import PDLRewritePattern
from xdsl.ir import Operation, OpResult
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import (
    GreedyRewritePatternApplier,
    PatternRewriter,
    PatternRewriteWalker,
    RewritePattern,
)
from xdsl.utils.arg_spec import ArgSpec
from xdsl.utils.exceptions import (
    DiagnosticException,
    InterpretationError,
    ParseError,
    VerifyException,
)

from lowerings.rewriting.options import made_from
from lowerings.rewriting.passes import ResultDifference
from xla_dialect.diagnostics import XlaError, read_text
from xla_dialect.spelling import suggestion
from xla_dialect.xdsl.text import MlirParser


@dataclass(frozen=True)
class PythonPass(ModulePass):
    """
    Runs the pass that a Python file defines: `python{file=my_pass.py}` -> what `apply` leaves.

    The file has a class as [passes](../adding_a_pass.md) are written, and is part of no package; it
    is read anew by each process. Further options are those of that pass.
    """

    name = "python"

    file: str
    """The file."""
    pass_name: str = ""
    """Which pass of the file, where it defines several."""

    @classmethod
    def from_spec(cls, spec: ArgSpec) -> Any:
        """The pass of the file, with the options that are left."""
        options = dict(spec.normalize_parameter_names().parameters)
        file, which = (str(*options.pop(name, ("",))) for name in ("file", "pass_name"))
        if not file:
            given_instead = f" (given: {', '.join(options)})" if options else ""
            raise XlaError(f"pass python: file= says where the pass stands{given_instead}")
        passes = _passes_of(file)
        found = [each for each in passes if which in ("", each.name)]
        if not passes:
            raise XlaError(f"{file} has no pass")
        if len(found) != 1:
            known = [each.name for each in passes]
            wrong = (
                f"no pass '{which}'{suggestion(which, known)}"
                if which
                else f"{len(known)} passes, of which pass_name= says one"
            )
            raise XlaError(f"{file} has {wrong} (it has: {', '.join(known)})")
        given: dict[str, Any] = {"file": (file,)} | ({"pass_name": (which,)} if which else {})

        def own_spec(self: ModulePass, *, include_default: bool = False) -> ArgSpec:
            own = ModulePass.spec(self, include_default=include_default)
            return ArgSpec(cls.name, given | own.parameters)

        made: type[ModulePass] = type(found[0].__name__, (found[0],), {"spec": own_spec})
        return made_from(lambda: made, ArgSpec(found[0].name, options))

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Is never called: `from_spec` makes the pass of the file."""
        raise NotImplementedError


def _names_of(file: str) -> dict[str, Any]:
    """What a file of Python defines; raises XlaError."""
    read_text(file)
    try:
        return run_path(file, run_name=Path(file).stem)
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        lines = [each.lineno for each in frames if each.filename == file]
        line = error.lineno if isinstance(error, SyntaxError) else (lines or [1])[-1]
        raise XlaError(f"{file}:{line}: error: {type(error).__name__}: {error}") from error


def _passes_of(file: str) -> list[type[ModulePass]]:
    """The classes of passes that a file defines; raises XlaError."""
    return [
        each
        for each in _names_of(file).values()
        if inspect.isclass(each)
        and issubclass(each, ModulePass)
        and each.__module__ == Path(file).stem
    ]


@dataclass(frozen=True)
class PdlPass(ModulePass):
    """
    Applies rewrite rules that a file states in the dialect `pdl`, at any level.

    Without `rule` all of them are tried on each operation, those with the greatest benefit first,
    until none matches. With it that one is, and the pass is called `pdl.RULE` in reports.

    ```
    // pdl{file=rules.mlir}, where a rule says that log(exp(x)) is x
    %0 = xla.exponential %x : tensor<2xf32>
    %1 = xla.log %0 : tensor<2xf32>
    // becomes
    %0 = xla.exponential %x : tensor<2xf32>
    ```
    """

    name = "pdl"

    file: str
    """The file with the rules, each a `pdl.pattern`."""
    rule: str = ""
    """The name of the only rule that is applied."""
    epsilons: int = 0
    """How many units in the last place of the largest float the results may differ by."""

    @property
    def difference(self) -> tuple[ResultDifference, ...]:
        """What `--validate-each` lets differ."""
        reason = f"the rules of {self.file} round"
        return (
            (ResultDifference(self.epsilons, reason, inputs=("plain",)),) if self.epsilons else ()
        )

    def __post_init__(self) -> None:
        if self.rule:
            object.__setattr__(self, "name", f"pdl.{self.rule}")

    def spec(self, *, include_default: bool = False) -> ArgSpec:
        """The pass as text, under the name by which it is found."""
        own = super().spec(include_default=include_default)
        return ArgSpec(PdlPass.name, own.parameters)

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrites a module; raises DiagnosticException for a rule that cannot be applied."""
        found = [rule for rule in rules_of(self.file, ctx) if self.rule in ("", rule.name)]
        if not found:
            raise DiagnosticException(f"{self.file} has no rule '{self.rule}'")
        apply_rules(found, op)


REWRITES_OF_AN_OPERATION = 100
"""On average: a rule that is applied more often does not come to an end."""


class Rule(RewritePattern, ABC):
    """One rule; what it makes has the location of what it matched."""

    def __init__(self, name: str):
        self.name = name
        self.most_rewrites = 0

    @abstractmethod
    def rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        """Rewrites what the rule matches; raises DiagnosticException."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        """The same, with locations; raises DiagnosticException also for a rule without an end."""
        location = op.location

        def place(made: Operation) -> None:
            if isinstance(made.location, UnknownLoc):
                made.location = location

        rewriter.operation_insertion_handler.append(place)
        try:
            self.rewrite(op, rewriter)
        finally:
            rewriter.operation_insertion_handler.remove(place)
        self.most_rewrites -= rewriter.has_done_action
        if self.most_rewrites < 0:
            raise DiagnosticException(f"rule {self.name} applies to what it makes, without an end")


def apply_rules(rules: Sequence[Rule], module: ModuleOp) -> None:
    """Applies rules, the first one that matches each operation, until none matches."""
    most = REWRITES_OF_AN_OPERATION * sum(1 for _ in module.walk())
    for rule in rules:
        rule.most_rewrites = most
    PatternRewriteWalker(GreedyRewritePatternApplier(list(rules))).rewrite_module(module)


class PdlRule(Rule):
    """A `pdl.pattern`."""

    def __init__(
        self,
        pattern: pdl.PatternOp,
        name: str,
        ctx: Context,
        functions: Mapping[str, Callable[..., Any]],
    ):
        super().__init__(name)
        self.benefit = pattern.benefit.value.data
        rewrite = pattern.body.block.last_op
        _require(
            name, pattern, isinstance(rewrite, pdl.RewriteOp), "it does not end in pdl.rewrite"
        )
        assert isinstance(rewrite, pdl.RewriteOp)
        is_stated = rewrite.root is not None and rewrite.name_ is None
        _require(name, rewrite, is_stated, "it has no root, or is a function")
        assert isinstance(rewrite.root, OpResult)
        self._pattern = PDLRewritePattern(rewrite, ctx, native_constraints=dict(functions))
        self._pattern.interpreter.register_implementations(_NativeRewrites(self, functions))
        self.rewriter: PatternRewriter | None = None

    def rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        """Rewrites what the pattern matches; raises DiagnosticException."""
        self.rewriter = rewriter
        try:
            self._pattern.match_and_rewrite(op, rewriter)
        except (InterpretationError, ValueError) as error:
            raise DiagnosticException(f"rule {self.name}: {error}") from error


@register_impls
class _NativeRewrites(InterpreterFunctions):
    """Calls functions of Python for `pdl.apply_native_rewrite`, which xDSL does not."""

    def __init__(self, rule: PdlRule, functions: Mapping[str, Callable[..., Any]]):
        self._rule, self._functions = rule, functions

    @impl(pdl.ApplyNativeRewriteOp)
    def run(
        self, interpreter: Interpreter, op: pdl.ApplyNativeRewriteOp, args: tuple[Any, ...]
    ) -> tuple[Any, ...]:
        """What the function of that name makes of a rewriter and the arguments."""
        name = op.constraint_name.data
        made: Any = self._functions[name](self._rule.rewriter, *args)
        found = cast("tuple[Any, ...]", made) if isinstance(made, tuple) else (made,)
        if len(found) != len(op.results):
            wanted = f"{len(op.results)} results, which pdl.apply_native_rewrite has"
            raise InterpretationError(f"'{name}' returns {made!r}, wanted {wanted}")
        return found


_UNREAD = (
    pdl.OperandsOp,
    pdl.RangeOp,
    pdl.ResultsOp,
    pdl.TypesOp,
)
"""What rules of a file cannot have: numbers of values that vary."""


def rules_of(file: str, ctx: Context) -> Sequence[PdlRule]:
    """The rules of a file, the greatest benefit first; raises XlaError."""
    try:
        module = MlirParser(ctx, read_text(file), file).parse_module()
    except ParseError as error:
        raise XlaError(str(error)) from error
    patterns = [op for op in module.ops if isinstance(op, pdl.PatternOp)]
    if not patterns:
        raise XlaError(f"{file}: error: there is no pdl.pattern in it")
    beside = Path(file).with_suffix(".py")
    functions = _names_of(str(beside)) if beside.exists() else {}
    rules: list[PdlRule] = []
    for number, pattern in enumerate(patterns):
        name = pattern.sym_name.data if pattern.sym_name is not None else f"rule-{number}"
        for op in pattern.walk():
            _require(name, op, not isinstance(op, _UNREAD), f"{op.name} is not supported")
            typed = isinstance(op, pdl.AttributeOp) and op.value_type is not None
            _require(name, op, not typed, "an attribute is given by its value, not by its type")
            if isinstance(op, pdl.OperationOp) and op.opName is not None:
                _require_operation(name, op, op.opName.data, ctx)
            if isinstance(op, pdl.ApplyNativeConstraintOp | pdl.ApplyNativeRewriteOp):
                function = op.constraint_name.data
                is_there = callable(functions.get(function))
                where = "has no" if beside.exists() else "does not exist, which would have the"
                _require(name, op, is_there, f"{beside} {where} function '{function}'")
            if isinstance(op, pdl.ApplyNativeConstraintOp):
                is_plain = not op.res and not op.is_negated.value.data
                _require(name, op, is_plain, "it has results, or is negated")
        try:
            pattern.verify()
        except VerifyException as error:
            raise XlaError(f"{file}: error: rule {name}: {error}") from error
        rules.append(PdlRule(pattern, name, ctx, functions))
    return sorted(rules, key=lambda rule: -rule.benefit)


def _require_operation(rule: str, op: Operation, wanted: str, ctx: Context) -> None:
    """Raises XlaError where a dialect has no operation of this name."""
    dialect = ctx.get_optional_dialect(wanted.partition(".")[0])
    known = [] if dialect is None else [each.name for each in dialect.operations]
    message = f"there is no operation '{wanted}'{suggestion(wanted, known)}"
    _require(rule, op, ctx.get_optional_op(wanted) is not None, message)


def _require(rule: str, op: Operation, holds: bool, message: str) -> None:
    if not holds:
        raise XlaError(f"rule {rule}: {op.name}: {message}")
