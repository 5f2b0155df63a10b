"""The shape of the house: who may import whom."""

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("xla_dialect", "lowerings", "tools")

# From the ground up. A room imports itself and rooms of lower layers; the rooms of one layer do not
# know each other. A module belongs to the room with the longest matching name; those of `EXACT` are
# the packages' own __init__ only.
LAYERS: tuple[tuple[str, ...], ...] = (
    ("xla_dialect", "xla_dialect.diagnostics"),
    ("xla_dialect.aliasing_attributes", "xla_dialect.spelling", "xla_dialect.violations"),
    ("xla_dialect.attributes",),
    (
        "xla_dialect.element_types",
        "xla_dialect.layout",
        "xla_dialect.xdsl",
    ),
    ("xla_dialect.sharding",),
    (
        "xla_dialect.devices",
        "xla_dialect.extensions",
        "xla_dialect.mlir_text",
        "xla_dialect.shapes",
        "xla_dialect.shardy",
    ),
    ("xla_dialect.types",),
    (
        "xla_dialect.constraints",
        "xla_dialect.dimensions",
        "xla_dialect.layouts",
        "xla_dialect.literals",
    ),
    ("xla_dialect.op", "xla_dialect.quantized_types", "xla_dialect.text"),
    ("xla_dialect.entry", "xla_dialect.ops", "xla_dialect.self_checking"),
    ("xla_dialect.analysis",),
    ("xla_dialect.runtime", "xla_dialect.verification"),
    # The formats, what operations mean, and how programs are made. Passes write their expansions
    # with the builder: it checks each operation against its rules as it is made.
    (
        "xla_dialect.builder",
        "xla_dialect.hlo_text",
        "xla_dialect.reference",
        "xla_dialect.stablehlo",
    ),
    # Files of bytes are read as texts of these formats.
    ("xla_dialect.binary",),
    ("lowerings.dialects", "lowerings.rewriting", "lowerings.runtime"),
    ("lowerings.ir", "lowerings.layouts", "lowerings.notebook"),
    (
        "lowerings.bufferize",
        "lowerings.expand",
        "lowerings.loops",
        "lowerings.simplify",
        "lowerings.xla_to_linalg",
    ),
    # Make structured operations, and slices, with the builders of the conversion to linalg.
    ("lowerings.tensors", "lowerings.xla_to_scf"),
    (
        "lowerings.partitioning",
        "lowerings.profiling",
        "lowerings.scheduling",
    ),
    # Makes use of expansions, and of the taking apart of values.
    ("lowerings.communication", "lowerings.targets"),
    # Names passes and targets only; loads them on use.
    ("lowerings.universe", "lowerings.pipelines"),
    ("lowerings.driver",),
    ("lowerings.execution",),
    # Its programs take and return arrays as compiled ones do.
    ("lowerings.interpreter",),
    # Runs modules of all levels, on the reference or interpreted.
    ("lowerings.delta_debugging", "lowerings.validation"),
    # Options of executors; what was compiled before; the executors; and which one a program is for.
    ("lowerings.backends",),
    ("lowerings.kept_programs", "lowerings.native_lowering"),
    ("lowerings.executors",),
    ("lowerings.executors",),
    ("lowerings.compilation", "lowerings.backends"),
    # A device for JAX; what `lowerings.jax` compiles calls functions of Python as it does.
    ("lowerings.pjrt", "lowerings.tuning"),
    ("lowerings.jax",),
    ("lowerings.explaining",),
    ("lowerings",),
    ("tools",),
)
EXACT = {"xla_dialect", "lowerings"}

# What of `lowerings` may import these: a reader of a pass meets no text format, and no numpy.
FORMATS_AND_MEANING: dict[str, tuple[str, ...]] = {
    "xla_dialect.binary": (
        "lowerings.driver",
        "lowerings.pjrt.inspection",
        "lowerings.targets.hlo",
        "lowerings.targets.stablehlo",
    ),
    "xla_dialect.hlo_text": ("lowerings.driver", "lowerings.targets.hlo"),
    "xla_dialect.stablehlo": (
        "lowerings.driver",
        "lowerings.targets.stablehlo",
        # Names its dialects among those of the toolkit.
        "lowerings.universe",
        # The conversion of StableHLO, as a pass.
        "lowerings.expand.stablehlo",
        "lowerings.expand.stablehlo_legalize_quant_to_math",
    ),
    "xla_dialect.reference": (
        # Folds constants by evaluating them.
        "lowerings.simplify.constant_folding",
        "lowerings.execution",
        "lowerings.interpreter",
        "lowerings.validation",
        "lowerings.executors",
    ),
}

# Shapes that a program computes from constants are evaluated while it is read.
AGAINST_THE_LAYERS = {("xla_dialect.stablehlo.conversion", "xla_dialect.reference.interpreter")}

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


@cache
def imports(module: str) -> list[tuple[str, int]]:
    """
    The project's modules that a module imports anywhere in its text, with the line: by a statement,
    or as a string that names one to be loaded on use, `package.module` or `package.module:name`.
    """
    tree = syntax_tree(modules()[module])
    found = list(imports_by_statement(module, tree))
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            name = node.value.partition(":")[0]
            # Names of packages are words as well.
            if "." in name and name in modules():
                found.append((name, node.lineno))
    return found


def imports_by_statement(module: str, tree: ast.Module) -> Iterator[tuple[str, int]]:
    for node in statements(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            source = node.module or ""
            if node.level:
                is_package = modules()[module].stem == "__init__"
                package = module.split(".")[: None if is_package else -1]
                source = ".".join([*package[: len(package) - node.level + 1], *source.split()])
            # `from package import module` imports the module, `from module import name` does not.
            names = [
                full if (full := f"{source}.{alias.name}") in modules() else source
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


def room(module: str) -> str:
    """The folder below a package that a module is in, or the module if it is in none."""
    return ".".join(module.split(".")[:2])


def is_in(module: str, rooms: Iterable[str]) -> bool:
    return any(module == room or module.startswith(f"{room}.") for room in rooms)


def against_the_layers(module: str) -> Iterator[str]:
    """The imports of a module that the layers do not allow."""
    own = unit(module)
    if own is None:
        yield f"{module} has no place in LAYERS"
        return
    for imported, line in imports(module):
        other = unit(imported)
        if other is None:
            yield f"{imported} has no place in LAYERS"
            continue
        is_below = other[1] == own[1] or other[0] < own[0]
        allowed = FORMATS_AND_MEANING.get(other[1])
        is_named = allowed is None or not module.startswith("lowerings.") or is_in(module, allowed)
        if not (is_below or (module, imported) in AGAINST_THE_LAYERS) or not is_named:
            place = f"{modules()[module]}:{line}"
            yield f"{place}: {module} ({own[1]}) imports {imported} ({other[1]})"


def test_imports_run_one_way() -> None:
    assert not [each for module in modules() for each in against_the_layers(module)]


def require_no_cycle(graph: dict[str, set[str]]) -> None:
    while graph:
        free = [node for node, names in graph.items() if not names & graph.keys() - {node}]
        assert free, f"these import each other: {sorted(graph)}"
        for node in free:
            del graph[node]


def test_modules_have_no_import_cycles() -> None:
    """Imports that only type checkers see count."""
    require_no_cycle({module: {name for name, _ in imports(module)} for module in modules()})


def test_rooms_have_no_import_cycles() -> None:
    graph: dict[str, set[str]] = defaultdict(set)
    for module in modules():
        graph[room(module)] |= {
            room(name) for name, _ in imports(module) if (module, name) not in AGAINST_THE_LAYERS
        }
    require_no_cycle(graph)


def test_packages_have_an_init() -> None:
    folders = {path.parent for path in modules().values()}
    assert [folder for folder in sorted(folders) if not (folder / "__init__.py").exists()] == []


def test_modules_say_what_they_hold() -> None:
    assert [path for path in python_files() if path.stem in UNNAMED] == []
    assert [path for path in python_files() if path.stem == path.parent.name] == []


# What replaces an attribute of a module or class of another package, and why it may.
REPLACES = {
    # A process of ours that runs commands for others.
    "tools.serving.server": {"sys.argv", "sys.stderr", "sys.stdin", "sys.stdout"},
    # Inside of `warnings.catch_warnings`.
    "tools.command_line": {"warnings.showwarning"},
}


def foreign_names(tree: ast.Module) -> dict[str, str]:
    """By the name in a file: the module, class or function of another package that it stands for."""
    found: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                name = alias.name if alias.asname else alias.name.partition(".")[0]
                found[alias.asname or name] = name
        elif isinstance(node, ast.ImportFrom) and not node.level:
            for alias in node.names:
                found[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    for node in ast.walk(tree):
        # `module: Any = dataclasses` is that module, too.
        if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, ast.Name):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                if isinstance(target, ast.Name) and node.value.id in found:
                    found[target.id] = found[node.value.id]
    return {name: place for name, place in found.items() if place.partition(".")[0] not in PACKAGES}


def replaced_attributes(tree: ast.Module) -> Iterator[str]:
    """What of other packages a file assigns to, or deletes."""
    foreign = foreign_names(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
            if any(isinstance(each, ast.Call | ast.Subscript) for each in ast.walk(node)):
                continue  # an attribute of an object
            path = ast.unparse(node)
        elif (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in ("setattr", "delattr")
        ):
            path = f"{ast.unparse(node.args[0])}.{ast.unparse(node.args[1])}"
        else:
            continue
        name, _, rest = path.partition(".")
        if name in foreign:
            yield f"{foreign[name]}.{rest}"


def test_nothing_of_other_packages_is_replaced() -> None:
    found = {name: set(replaced_attributes(syntax_tree(path))) for name, path in modules().items()}
    assert {name: replaced for name, replaced in found.items() if replaced} == REPLACES


@pytest.mark.parametrize(
    "text",
    [
        "import xdsl.ir\nxdsl.ir.Operation.verify = None",
        "from xdsl.ir import Operation\nOperation.verify = None",
        "from xdsl.ir import Operation as Op\nsetattr(Op, 'verify', None)",
        "from xdsl import ir\nplace: object = ir.Operation\nmodule = ir\ndel module.Operation",
        "import gc\ndef f():\n    from xdsl.ir import Operation\n    Operation.verify += 1",
    ],
)
def test_replaced_attributes_are_seen(text: str) -> None:
    assert [name.split(".")[0] for name in replaced_attributes(ast.parse(text))] == ["xdsl"]
