"""The shape of the house: who may import whom, and how long a file or a function may be."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("xla_dialect", "lowerings", "tools")

# From the ground up. A unit imports itself and units of lower layers; the units of one layer do not
# know each other. A module belongs to the unit with the longest matching name; those of `EXACT` are
# the packages' own __init__ only.
LAYERS: tuple[tuple[str, ...], ...] = (
    (
        "xla_dialect",
        "xla_dialect.devices",
        "xla_dialect.diagnostics",
        "xla_dialect.layouts",
        "xla_dialect.literals",
        "xla_dialect.xdsl",
        "xla_dialect.xdsl.arith_extension",
        "xla_dialect.xdsl.attribute_identity",
        "xla_dialect.xdsl.linalg_extension",
        "xla_dialect.xdsl.traversal",
        "xla_dialect.xdsl.vector_extension",
        "xla_dialect.violation",
    ),
    ("xla_dialect.extensions",),
    (
        "xla_dialect.dynamic_size",
        "xla_dialect.layouts.layout",
        "xla_dialect.attributes",
        "xla_dialect.shapes",
    ),
    ("xla_dialect.types", "xla_dialect.xdsl.views"),
    ("xla_dialect.literals.literal",),
    ("xla_dialect.layouts.layout_functions", "xla_dialect.layouts.physical_order"),
    ("xla_dialect.layouts.indexing", "xla_dialect.layouts.shape_functions"),
    (
        "xla_dialect.xdsl.speed",
        "xla_dialect.xdsl.workarounds",
        "xla_dialect.syntax",
        "xla_dialect.window",
        "xla_dialect.convolution_labels",
        "xla_dialect.devices.device_parts",
        "xla_dialect.devices.process_grid",
        "xla_dialect.devices.replica_groups",
    ),
    (
        "xla_dialect.broadcasting",
        "xla_dialect.constraints",
        "xla_dialect.dimensions",
        "xla_dialect.structure",
    ),
    ("xla_dialect.op",),
    ("xla_dialect.ops", "xla_dialect.self_checking"),
    (
        "xla_dialect.call_tokens",
        "xla_dialect.calls",
        "xla_dialect.comparators",
        "xla_dialect.dynamic_dimensions",
        "xla_dialect.devices.process_calls",
        "xla_dialect.verified_forms",
    ),
    ("xla_dialect.devices.channels",),
    ("xla_dialect.dialect", "xla_dialect.verification"),
    (
        "xla_dialect.reference",
        "xla_dialect.hlo_text",
        "xla_dialect.stablehlo",
        "xla_dialect.mlir_text",
    ),
    # These take types in the spelling of HLO text, and constants as arrays.
    ("xla_dialect.builder", "xla_dialect.stablehlo.writing"),
    ("lowerings.driver", "lowerings.ir", "lowerings.rewriting"),
    ("lowerings.ir.scalar_attributes", "lowerings.rewriting.change"),
    (
        "lowerings.driver.collector",
        "lowerings.ir.custom_calls",
        "lowerings.ir.float_formats",
        "lowerings.ir.independent_loops",
        "lowerings.ir.reshapes",
        "lowerings.layouts.memory_order",
        "lowerings.rewriting.conversion",
        "lowerings.rewriting.dead_code",
    ),
    (
        "lowerings.expand",
        "lowerings.layouts",
        "lowerings.xla_populate_dimension_relations",
        "lowerings.simplify",
        "lowerings.xla_to_linalg",
        "lowerings.xla_to_scf",
        "lowerings.tensors",
        "lowerings.bufferize",
        "lowerings.loops",
    ),
    # Makes use of expansions, and of the taking apart of values.
    ("lowerings.communication",),
    ("lowerings.targets",),
    # Names passes and targets only; loads them on use.
    ("lowerings.universe", "lowerings.pipelines"),
    ("lowerings.driver.context", "lowerings.driver.pass_manager"),
    ("lowerings.driver.program",),
    ("lowerings.driver.entry", "lowerings.execution", "lowerings.execution.observed_values"),
    # Its programs take and return arrays as compiled ones do.
    ("lowerings.interpreter", "lowerings.execution.parallel_runs"),
    # Runs modules of all levels, on the reference or interpreted.
    ("lowerings.validation",),
    ("lowerings.compilation",),
    ("lowerings.jax",),
    ("lowerings",),
    ("tools",),
)
EXACT = {
    "xla_dialect",
    "xla_dialect.devices",
    "xla_dialect.layouts",
    "xla_dialect.literals",
    "xla_dialect.xdsl",
    "lowerings",
    "lowerings.driver",
    "lowerings.ir",
    "lowerings.rewriting",
}

MAX_FILE_LINES = 600
MAX_FUNCTION_LINES = 60
UNNAMED = {"utils", "util", "misc", "common", "helpers"}


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def modules() -> dict[str, Path]:
    """Every module of the project by its dotted name."""
    return {
        module_name(path): path
        for package in PACKAGES
        for path in sorted((ROOT / package).rglob("*.py"))
    }


@cache
def syntax_tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


def statements(node: ast.AST) -> Iterator[ast.stmt]:
    """The statements in a syntax tree, at every depth; expressions, which are most of it, hold none."""
    for field in ("body", "handlers", "orelse", "finalbody", "cases"):
        for child in getattr(node, field, ()):
            if isinstance(child, ast.stmt):
                yield child
            yield from statements(child)


def imports(module: str, *, at_run_time: bool = False) -> Iterator[tuple[str, int]]:
    """
    The project's modules that a module imports anywhere in its text, with the line.

    `at_run_time` leaves out what only type checkers see.
    """
    tree = syntax_tree(modules()[module])
    for_types = {
        id(child)
        for node in statements(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for child in statements(node)
    }
    for node in statements(tree):
        if at_run_time and id(node) in for_types:
            continue
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            # `from package import module` imports the module, `from module import name` does not.
            names = [
                full if (full := f"{node.module}.{alias.name}") in modules() else node.module
                for alias in node.names
            ]
        else:
            continue
        yield from ((name, node.lineno) for name in names if name.split(".")[0] in PACKAGES)


def unit(module: str) -> tuple[int, str] | None:
    """The layer and the name of the unit that a module belongs to."""
    found = [
        (layer, name)
        for layer, names in enumerate(LAYERS)
        for name in names
        if module == name or (name not in EXACT and module.startswith(name + "."))
    ]
    return max(found, key=lambda entry: len(entry[1]), default=None)


def python_files() -> list[Path]:
    return [*modules().values(), *sorted((ROOT / "test").rglob("*.py"))]


@pytest.mark.parametrize("module", modules())
def test_imports_run_one_way(module: str) -> None:
    own = unit(module)
    assert own is not None, f"{module} has no place in LAYERS"
    for imported, line in imports(module):
        other = unit(imported)
        assert other is not None, f"{imported} has no place in LAYERS"
        assert other[1] == own[1] or other[0] < own[0], (
            f"{modules()[module]}:{line}: {module} ({own[1]}) imports {imported} ({other[1]})"
        )


def test_no_import_cycles() -> None:
    graph = {
        module: {name for name, _ in imports(module, at_run_time=True)} for module in modules()
    }
    while graph:
        free = [module for module, names in graph.items() if not names & graph.keys() - {module}]
        assert free, f"these modules import each other: {sorted(graph)}"
        for module in free:
            del graph[module]


def test_packages_have_an_init() -> None:
    folders = {path.parent for path in modules().values()}
    assert [folder for folder in sorted(folders) if not (folder / "__init__.py").exists()] == []


def test_modules_say_what_they_hold() -> None:
    assert [path for path in python_files() if path.stem in UNNAMED] == []


def test_lengths() -> None:
    too_long: list[str] = []
    for path in python_files():
        lines = len(path.read_text(encoding="utf-8").splitlines())
        if lines > MAX_FILE_LINES:
            too_long.append(f"{path}: {lines} lines")
        for node in statements(syntax_tree(path)):
            if isinstance(node, ast.FunctionDef) and node.end_lineno is not None:
                length = node.end_lineno - node.lineno + 1
                if ast.get_docstring(node) is not None:
                    docstring = node.body[0]
                    assert docstring.end_lineno is not None
                    length -= docstring.end_lineno - docstring.lineno + 1
                if length > MAX_FUNCTION_LINES:
                    too_long.append(f"{path}:{node.lineno}: {node.name} has {length} lines")
    assert not too_long, "divide by meaning:\n" + "\n".join(too_long)
