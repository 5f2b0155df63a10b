"""
`jit`: traced and lowered by JAX, compiled and run by this toolkit; and the leaves of JAX's pytrees,
as a program takes or returns them.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Hashable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from types import MethodType
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from lowerings.backends import Program, Where, options_at, takes_options
from lowerings.backends import compiler_options as read_options
from lowerings.execution.profile import Profile
from lowerings.jax.interfaces import (
    ArrayImpl,
    Aval,
    DevicePlacement,
    Ref,
    call_primitive,
    content_of,
    is_tracer,
    jax,
    keys_of_words,
    placement_of,
    set_content,
    trace_context,
    traced_function,
    unwanted_values,
    words_of_keys,
    wrapped,
)
from lowerings.jax.lowered import Lowered
from lowerings.pjrt.program_text import CompileOptions

TRACED = object()
"""What `abstract_leaf` says of leaves that JAX traces: no compiled program is for them."""


def abstract_leaf(leaf: Any) -> Hashable:
    """
    What tracing sees of a leaf, and what tells where results are: equal for leaves that one
    compiled program can take.

    Python numbers are weakly typed, so they differ from arrays of the same element type.
    """
    if type(leaf) is ArrayImpl:
        return leaf.aval, leaf.sharding, leaf.committed
    if isinstance(leaf, np.ndarray | np.generic):
        array = cast("NDArray[Any]", leaf)
        return array.shape, array.dtype
    if is_tracer(leaf):
        return TRACED
    if isinstance(leaf, Ref | jax.Array):
        return jax.typeof(leaf)
    return cast(Hashable, type(leaf))


def has_keys(aval: Aval) -> bool:
    """Whether the elements are random keys, which JAX shows as a type of their own."""
    return jax.dtypes.issubdtype(aval.dtype, jax.dtypes.prng_key)


def is_float0(aval: Aval) -> bool:
    """Whether the elements are of no space: tangents of integers, of which programs have zeros."""
    return aval.dtype == jax.dtypes.float0


def _content(ref: Any) -> NDArray[Any]:
    return np.asarray(content_of(ref))


def _words(keys: Any) -> NDArray[Any]:
    return np.asarray(jax.random.key_data(keys))


def taker(leaf: Any, aval: Aval) -> Callable[[Any], NDArray[Any]]:
    """
    From leaves of this kind to the arrays that a program takes for them, in the type that JAX gave
    them in tracing.

    Without a copy if the leaf is an array of that type. Random keys are taken as words.
    """
    if isinstance(leaf, Ref):
        return _content
    if has_keys(aval):
        return _words
    if is_float0(aval):
        zeros = np.zeros(cast("tuple[int, ...]", aval.shape), np.bool_)
        return lambda _: zeros
    if isinstance(leaf, jax.Array):
        return np.asarray
    return partial(np.asarray, dtype=aval.dtype)


def giver(aval: Aval, placement: DevicePlacement) -> Callable[[NDArray[Any]], Any]:
    """From a result to what JAX has for it: without a copy, with random keys and weak types."""
    if is_float0(aval):
        return lambda _: np.zeros(aval.shape, aval.dtype)
    if has_keys(aval):
        words = placement.giver(words_of_keys(aval))
        return lambda value: keys_of_words(words(value), aval)
    return placement.giver(aval)


def plain_giver(aval: Aval, placement: DevicePlacement) -> Callable[[NDArray[Any]], Any]:
    """From a result to what numpy has for it. Random keys exist in JAX only."""
    if has_keys(aval) or is_float0(aval):
        return giver(aval, placement)
    return lambda value: value


_tracing: ContextVar[bool] = ContextVar("tracing", default=False)
"""Whether JAX is tracing for us: then functions inside are traced along."""


@takes_options(Where.DEVICE)
def jit(
    fun: Callable[..., Any] | None = None,
    *,
    static_argnums: int | Sequence[int] | None = None,
    static_argnames: str | Sequence[str] | None = None,
    donate_argnums: int | Sequence[int] | None = None,
    donate_argnames: str | Sequence[str] | None = None,
    in_shardings: Any = None,
    out_shardings: Any = None,
    keep_unused: bool = True,
    inline: bool = False,
    device: Any = None,
    compiler_options: Mapping[str, Any] | None = None,
    profile: bool = False,
    **options: Any,
) -> Any:
    """
    Like `jax.jit`: JAX traces and lowers the function, and this toolkit compiles and runs it.

    Arguments and results are pytrees. The function is compiled again for other shapes, types,
    static arguments or settings of JAX. Results are JAX arrays, on the device where `jax.jit` puts
    them; if some arguments are numpy arrays and none are JAX arrays, results are numpy arrays.
    Arrays are copied only where that cannot be avoided.

    `compiler_options` are those of the device for JAX. `options` are the same as keywords, without
    `xdsl_`; `backend`, `num_threads`, `pipeline` and others are those of `lowerings.compile`. With
    `profile`, the method `profiles` returns the times of the kernels.

    `donate_argnums` and `donate_argnames` name arguments whose memory results may take. This is
    done for numpy arrays of the type of a result; JAX arrays are not overwritten, because JAX may
    share their memory. `keep_unused=False` drops arguments that no result depends on. `inline` is
    that of `jax.jit`. Results are put on `device`.

    A function is partitioned, and runs in one thread per device, if `in_shardings` or
    `out_shardings`, arguments that are split over devices, `with_sharding_constraint`,
    `jax.shard_map` or `jax.pmap` name several devices. Nothing is donated then. JAX arrays among
    the results have the shardings of `out_shardings`.

    `jax.grad(jit(f))` and `jax.vmap(jit(f))` trace `f` at each call, and the result is compiled
    here; `jit(jax.grad(f))` is faster. Inside of `jax.jit`, `f` becomes part of the surrounding
    program. A `Ref` among the arguments is updated. Python functions that a program calls
    (`jax.pure_callback`, `io_callback`, `debug.print`) run in program order, `ordered` or not.

    Also a decorator, with or without arguments. Raises JaxProgramError for a program that this
    toolkit cannot compile; JAX's own errors pass through.

    >>> import numpy
    >>> from lowerings.jax import jit
    >>> @jit
    ... def double(x):
    ...     return x + x
    >>> double(numpy.float32([1, 2]))
    array([2., 4.], dtype=float32)
    """

    unknown = sorted(options.keys() - set(options_at(Where.DEVICE)))
    if unknown:
        raise TypeError(f"jit() got an unexpected keyword argument '{unknown[0]}'")
    named = {f"xdsl_{name}": value for name, value in options.items()}
    named |= read_options(compiler_options or {})

    def make(function: Callable[..., Any]) -> Jitted:
        numbers, names = _static_parameters(function, static_argnums, static_argnames)
        given = {"donate_argnums": donate_argnums, "donate_argnames": donate_argnames}
        shardings = {"in_shardings": in_shardings, "out_shardings": out_shardings}
        given |= {name: value for name, value in shardings.items() if value is not None}
        given |= {"keep_unused": keep_unused, "inline": inline}
        place = _ResultPlace(out_shardings, device)
        return Jitted(function, numbers, names, given, named, place, profile=profile)

    return make if fun is None else make(fun)


class _UnwantedValueError(FloatingPointError):
    """A result that JAX is told to raise an error for."""


class _Specialization:
    """A program for arguments of one kind, with how each is taken and each result is given."""

    def __init__(
        self, program: Program, lowered: Lowered, leaves: Sequence[Any], place: _ResultPlace
    ):
        """`program`: what runs it; `leaves`: of arguments of this kind."""
        self.program = program
        kept = [leaves[number] for number in lowered.kept]
        self._takers = [
            (number, taker(leaf, aval))
            for number, leaf, aval in zip(lowered.kept, kept, lowered.in_avals, strict=True)
        ]
        placement = placement_of(leaves, place.device)
        gives_plain = not place.is_jax and _has_numpy_only(leaves)
        make = plain_giver if gives_plain else giver
        self._refs = lowered.closed_refs
        self._ref_of_result = lowered.ref_of_result
        self._givers = [make(aval, placement) for aval in lowered.out_avals]
        for number, ref in enumerate(self._ref_of_result):
            if ref is not None:
                self._givers[number] = giver(lowered.out_avals[number], placement)
        self._out_tree = lowered.out_tree
        self._out_shardings = None if gives_plain else place.out_shardings
        is_said = gives_plain or place.is_said
        self._result_shardings = None if is_said else lowered.result_shardings()

    def __call__(self, leaves: Sequence[Any]) -> Any:
        """Runs the program on the leaves of the arguments."""
        arrays = [take(leaves[number]) for number, take in self._takers]
        arrays += [np.asarray(content_of(ref)) for ref in self._refs]
        found = self.program(*arrays)
        for word, is_special in unwanted_values():
            if any(map(is_special, found)):
                raise _UnwantedValueError(f"{self.program.signature.name}: a result is {word}")
        results = [give(value) for give, value in zip(self._givers, found, strict=True)]
        if self._result_shardings is not None:
            results = jax.device_put(results, self._result_shardings)
        if self._ref_of_result:
            results = self._without_refs(leaves, results)
        tree = self._out_tree.unflatten(results)
        return tree if self._out_shardings is None else jax.device_put(tree, self._out_shardings)

    def _without_refs(self, leaves: Sequence[Any], results: Sequence[Any]) -> list[Any]:
        """Gives `Ref`s their contents; the results that are left."""
        taken = [*(leaves[number] for number, _ in self._takers), *self._refs]
        left: list[Any] = []
        for ref, result in zip(self._ref_of_result, results, strict=True):
            if ref is None:
                left.append(result)
            else:
                set_content(taken[ref], result)
        return left


def _has_numpy_only(leaves: Sequence[Any]) -> bool:
    """Whether there are numpy arrays among them, and no arrays of JAX."""
    has_numpy = any(isinstance(leaf, np.ndarray | np.generic) for leaf in leaves)
    return has_numpy and not any(isinstance(leaf, jax.Array | Ref) for leaf in leaves)


@dataclass(frozen=True)
class _ResultPlace:
    """Where results are put that are JAX arrays."""

    out_shardings: Any = None
    device: Any = None
    always_jax: bool = False

    @property
    def is_said(self) -> bool:
        """Whether anybody says where; else they are where the arguments are."""
        return self.out_shardings is not None or self.device is not None

    @property
    def is_jax(self) -> bool:
        """Whether all results are JAX arrays."""
        return self.always_jax or self.device is not None


class TracedFunction:
    """A function that JAX traced for arguments of certain shapes and types."""

    def __init__(self, traced: Any, lower: Callable[[], Lowered]):
        self._traced = traced
        self.lower = lower
        """The program that it is lowered to."""

    def __getattr__(self, name: str) -> Any:
        """What JAX's own has: `jaxpr`, `out_info`, `args_info`, `fun_name`, `in_avals`, ..."""
        return getattr(self._traced, name)


class Jitted:
    """The function that `jit` returns, with the methods of a function of `jax.jit`."""

    def __init__(
        self,
        function: Callable[..., Any],
        static_argnums: Sequence[int],
        static_argnames: Sequence[str],
        given: Mapping[str, Any],
        named: Mapping[str, Any],
        place: _ResultPlace | None = None,
        *,
        profile: bool = False,
    ):
        """
        `given`: what is given away, shardings, and the like, as `jax.jit` takes them; `named`:
        options by the names that the device has for them. Raises XlaError for those that do not fit
        each other.
        """
        CompileOptions(b"", 1, 1, (), named).compilation(profile=profile)
        self.__name__ = "function"
        functools.update_wrapper(self, function, updated=())  # JAX's functions have a `lower`
        self._function = function
        self._lowered = partial(Lowered, named=named, profile=profile)
        self._named = named
        self._place = place or _ResultPlace(given.get("out_shardings"))
        self._static_numbers = frozenset(static_argnums)
        self._static_names = frozenset(static_argnames)
        self._jax = jax.jit(
            function,
            static_argnums=tuple(static_argnums),
            static_argnames=tuple(static_argnames),
            **{"keep_unused": True, **given},
        )
        self._programs: dict[Hashable, Program] = {}
        self._specializations: dict[Hashable, _Specialization] = {}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Runs the function on pytrees of arrays and numbers."""
        leaves, key = self._leaves_and_key(args, kwargs)
        found = self._specializations.get(key)
        if found is None:
            if any(map(is_tracer, leaves)):
                return self._within_trace(args, kwargs)
            lowered = self.lower(*args, **kwargs)
            found = _Specialization(self._compiled(lowered), lowered, leaves, self._place)
            self._specializations[key] = found
        try:
            return found(leaves)
        except _UnwantedValueError:
            # JAX runs the operations one by one, and names the first with such a result.
            self._jax(*args, **kwargs)
            raise

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        """Lets the function be a method."""
        return self if instance is None else MethodType(self, instance)

    def trace(self, *args: Any, **kwargs: Any) -> TracedFunction:
        """The function traced by JAX for arguments like these."""
        token = _tracing.set(True)
        try:
            traced = self._jax.trace(*args, **kwargs)
        finally:
            _tracing.reset(token)
        leaves, _ = self._leaves_and_key(args, kwargs)
        writable = frozenset(n for n, leaf in enumerate(leaves) if isinstance(leaf, np.ndarray))
        return TracedFunction(traced, partial(self._lowered, traced, writable=writable))

    def lower(self, *args: Any, **kwargs: Any) -> Lowered:
        """The function traced and lowered by JAX for arguments like these."""
        return self.trace(*args, **kwargs).lower()

    def eval_shape(self, *args: Any, **kwargs: Any) -> Any:
        """What the results for arguments like these are, as a pytree of `jax.ShapeDtypeStruct`."""
        return self._jax.eval_shape(*args, **kwargs)

    def clear_cache(self) -> None:
        """Forgets all compiled programs."""
        self._specializations.clear()
        self._programs.clear()
        self._jax.clear_cache()

    def profiles(self, *, reset: bool = False) -> list[Profile]:
        """
        The profiles of the programs that were compiled so far, one for each kind of arguments, in
        the order of their first calls. Raises XlaError without `profile=True`.
        """
        return [each.program.profile(reset=reset) for each in self._specializations.values()]

    def _within_trace(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """
        The call of a function while JAX traces another: a part of the program, if that is ours.

        Else it is a call of `xdsl_jit`: JAX transforms the function, and its calls with arrays
        come back to us (`_run_transformed`).
        """
        if _tracing.get():
            return self._jax(*args, **kwargs)
        leaves, rebuild = self._dynamic_leaves(args, kwargs)
        trees: list[Any] = []

        def flat(*values: Any) -> Any:
            given, named = rebuild(values)
            found, tree = jax.tree.flatten(self._function(*given, **named))
            trees.append(tree)
            return found

        functools.update_wrapper(flat, self._function, updated=())
        found = _CALL.bind(*leaves, subfuns=(wrapped(flat, *leaves),), jitted=self)
        return jax.tree.unflatten(trees[-1], found)

    def run_transformed(self, function: Any, arrays: Sequence[Any]) -> Any:
        """What JAX has made of this function, on arrays; compiled once for each program."""
        inner = Jitted(traced_function(function, arrays), (), (), {}, self._named)
        lowered = inner.lower(*arrays)
        place = _ResultPlace(device=self._place.device, always_jax=True)
        return _Specialization(self._compiled(lowered), lowered, arrays, place)(arrays)

    def _compiled(self, lowered: Lowered) -> Program:
        """One program for all kinds of arguments for which JAX lowers the function alike."""
        text = lowered.text
        if text.callbacks:
            return lowered.program
        key = text.text, lowered.options.partitions, lowered.donated
        if key not in self._programs:
            self._programs[key] = lowered.program
        return self._programs[key]

    def _dynamic_leaves(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[list[Any], Callable[[Sequence[Any]], tuple[Sequence[Any], Mapping[str, Any]]]]:
        """The leaves of what is not static, and what puts all together again with others."""
        numbers = [n for n in range(len(args)) if n not in self._static_numbers]
        names = [name for name in kwargs if name not in self._static_names]
        dynamic = [args[n] for n in numbers], {name: kwargs[name] for name in names}
        leaves, tree = jax.tree.flatten(dynamic)

        def rebuild(values: Sequence[Any]) -> tuple[Sequence[Any], Mapping[str, Any]]:
            given, named = jax.tree.unflatten(tree, values)
            found = dict(enumerate(args)) | dict(zip(numbers, given, strict=True))
            return list(found.values()), {**kwargs, **named}

        return leaves, rebuild

    def _leaves_and_key(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[list[Any], Hashable]:
        """The leaves of what is not static, and what a compiled program depends on."""
        static: Hashable = ()
        if self._static_numbers or self._static_names:
            numbers = {n for n in self._static_numbers if n < len(args)}
            named = [name for name in sorted(kwargs) if name in self._static_names]
            static = (
                tuple((number, _typed(args[number])) for number in sorted(numbers)),
                tuple((name, _typed(kwargs[name])) for name in named),
            )
            args = tuple(value for n, value in enumerate(args) if n not in numbers)
            kwargs = {k: v for k, v in kwargs.items() if k not in self._static_names}
        leaves, tree = jax.tree.flatten((args, kwargs))
        return leaves, (tree, tuple(map(abstract_leaf, leaves)), static, trace_context())


def _call(function: Any, *arrays: Any, jitted: Jitted, **_: Any) -> Any:
    return jitted.run_transformed(function, arrays)


_CALL = call_primitive("xdsl_jit", _call)
"""Calls of our functions while JAX traces or transforms another function."""


def _typed(value: Any) -> Hashable:
    """A value that `1`, `1.0` and `True` differ in."""
    return value.__class__, value


def _static_parameters(
    function: Callable[..., Any],
    numbers: int | Sequence[int] | None,
    names: str | Sequence[str] | None,
) -> tuple[list[int], list[str]]:
    """
    The static parameters by position and by name: as in JAX, either tells the other.

    Negative positions count from the last parameter.
    """
    given_numbers = [numbers] if isinstance(numbers, int) else list(numbers or ())
    given_names = [names] if isinstance(names, str) else list(names or ())
    try:
        parameters = inspect.signature(function).parameters.values()
    except (ValueError, TypeError):
        return given_numbers, given_names
    positional = [p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
    count = len(positional)
    given_numbers = [n + count if -count <= n < 0 else n for n in given_numbers]
    if names is None:
        given_names = [positional[n] for n in given_numbers if 0 <= n < count]
    elif numbers is None:
        given_numbers = [positional.index(name) for name in given_names if name in positional]
    return given_numbers, given_names
