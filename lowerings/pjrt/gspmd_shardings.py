"""How devices share the results of programs with shardings of GSPMD, which Shardy does not know."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lowerings.driver.context import make_context
from lowerings.driver.pass_manager import PassManager, parse_passes
from lowerings.driver.program import parse_program
from lowerings.ir.functions import defined_functions
from lowerings.pjrt.interfaces import HLO_SHARDING, IR, RESULTS, attributes_of, main_function
from xla_dialect.diagnostics import XlaError
from xla_dialect.sharding.array_sharding import Shards
from xla_dialect.sharding.attributes import meshes_of, returned_shardings
from xla_dialect.types import extents, is_array

_PASSES = "xla-inline,xla-import-shardings,xla-propagate-shardings"


def propagated_by_our_passes(text: str, context: Any, spelled: Callable[[Shards], str]) -> Any:
    """
    The module with this text, with shardings of its results, by our own propagation: what cannot
    be cut into even parts is left open. `spelled`: how HLO writes shards.
    """
    module = IR.Module.parse(text, context)
    with context:
        _say_results(module, text, spelled)
    return module


def _say_results(module: Any, text: str, spelled: Callable[[Shards], str]) -> None:
    try:
        program = parse_program(text)
        PassManager(make_context()).run(program, parse_passes(_PASSES))
    except XlaError:
        return
    meshes = meshes_of(program)
    (main,) = (each for each in defined_functions(program) if each.sym_name.data == "main")
    function = main_function(module)
    own = attributes_of(function, RESULTS)
    rows: list[Any] = []
    for number, (sharding, type_) in enumerate(
        zip(returned_shardings(main), main.function_type.outputs, strict=True)
    ):
        row = {} if own is None else {each.name: each.attr for each in own[number]}
        mesh = None if sharding is None else sharding.mesh_in(meshes)
        if sharding is not None and mesh is not None and is_array(type_):
            sizes = extents(type_)
            shards = Shards.of_mesh(mesh, sharding, len(sizes))
            if shards.is_even(sizes):
                row.setdefault(HLO_SHARDING, IR.StringAttr.get(spelled(shards)))
        rows.append(IR.DictAttr.get(row))
    function.attributes[RESULTS] = IR.ArrayAttr.get(rows)
