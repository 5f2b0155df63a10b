"""
The console scripts: each loads its tool and runs it.

Loading takes most of a short run. It happens in here, so that Ctrl-C during it is one line too.
"""

import gc
import sys
from functools import partial
from importlib import import_module
from types import ModuleType

from lowerings.driver.collector import loading

EXTRAS = {"lsprotocol": "lsp", "pygls": "lsp"}
"""What modules of this package import, and the extra that brings it."""


def load(name: str) -> ModuleType:
    """A module of this package; raises XlaError where it needs an extra that is not installed."""
    with loading():
        try:
            return import_module(f"{__package__}.{name}")
        except ModuleNotFoundError as error:
            extra = EXTRAS.get((error.name or "").partition(".")[0])
            if extra is None:
                raise
            message = f"it needs {error.name}: pip install 'xla-dialect[{extra}]'"
            raise import_module("xla_dialect.diagnostics").XlaError(message) from None


def _run(tool: str, module: str) -> int:
    try:
        return load(module).main()
    except KeyboardInterrupt:
        print(f"{tool}: interrupted", file=sys.stderr)
        return 1
    finally:
        # What is left ends with the process: Python need not look for cycles in it before.
        gc.freeze()


xla_build = partial(_run, "xla-build", "xla_build")
xla_compare = partial(_run, "xla-compare", "xla_compare")
xla_layout = partial(_run, "xla-layout", "xla_layout")
xla_lsp_server = partial(_run, "xla-lsp-server", "xla_lsp_server")
xla_microkernels = partial(_run, "xla-microkernels", "xla_microkernels")
xla_new_package = partial(_run, "xla-new-package", "new_package")
xla_opt = partial(_run, "xla-opt", "xla_opt")
xla_reduce = partial(_run, "xla-reduce", "xla_reduce")
xla_run = partial(_run, "xla-run", "xla_run")
xla_tune = partial(_run, "xla-tune", "xla_tune")
xla_update_checks = partial(_run, "xla-update-checks", "update_checks")
