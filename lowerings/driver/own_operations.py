"""Operations of other packages that programs name as custom calls, as JAX writes them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from xdsl.dialects.builtin import DictionaryAttr, ModuleOp, StringAttr
from xdsl.ir import Attribute, Operation
from xdsl.parser import Parser
from xdsl.rewriter import Rewriter
from xdsl.utils.exceptions import ParseError, VerifyException

from lowerings.driver.context import make_context
from lowerings.universe import OWN, toolkit_universe
from xla_dialect.diagnostics import XlaError
from xla_dialect.ops.custom_calls import CustomCallOp
from xla_dialect.xdsl.traversal import operations_in

_NAME = re.compile(r"(\w+)\.[\w.]+")


def given_by_keyword(op: CustomCallOp) -> Mapping[str, Attribute]:
    """
    What a call was given beside arrays, as `jax.ffi.ffi_call` takes it by keyword; raises XlaError
    for text that is no dictionary of attributes.
    """
    found = op.attributes.get("mhlo.backend_config", op.attributes.get("xla.backend_config"))
    if isinstance(found, StringAttr) and found.data:
        try:
            found = Parser(make_context(), found.data).parse_attribute()
        except ParseError as error:
            raise XlaError(f"the attributes of the call: {error}") from error
    return found.data if isinstance(found, DictionaryAttr) else {}


def make_own_operations(module: ModuleOp) -> bool:
    """
    Puts operations in the place of custom calls whose target is the name of one in an installed
    dialect; what the call is given by keyword are its properties. Whether there are any.

    Raises XlaError for one that breaks a rule of its operation.
    """
    found = False
    for op in operations_in(module):
        if not isinstance(op, CustomCallOp):
            continue
        kind = _operation(op.custom_call_target.data)
        if kind is None:
            continue
        given = dict(given_by_keyword(op))
        made = kind.create(operands=op.operands, result_types=op.result_types, properties=given)
        made.location = op.location
        Rewriter.replace_op(op, made)
        try:
            made.verify()
        except VerifyException as error:
            raise XlaError(f"custom call of {kind.name}: {error}") from error
        found = True
    return found


@cache
def _operation(target: str) -> type[Operation] | None:
    """The operation of another package that has this name."""
    name = _NAME.fullmatch(target)
    if name is None or name[1] in OWN.all_dialects:
        return None
    make = toolkit_universe().all_dialects.get(name[1])
    kinds = () if make is None else make().operations
    return next((kind for kind in kinds if kind.name == target), None)
