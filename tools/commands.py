"""
The console scripts: each loads its tool and runs it.

Loading takes most of a short run. It happens in here, so that Ctrl-C during it is one line too.
"""

import gc
import sys
from functools import partial


def _run(tool: str, module: str) -> int:
    try:
        from .loading import load  # noqa: PLC0415

        return load(module).main()
    except KeyboardInterrupt:
        print(f"{tool}: interrupted", file=sys.stderr)
        return 1
    finally:
        # What is left ends with the process: Python need not look for cycles in it before.
        gc.freeze()


xla_build = partial(_run, "xla-build", "mlir_build.command")
xla_compare = partial(_run, "xla-compare", "xla_compare")
xla_layout = partial(_run, "xla-layout", "xla_layout")
xla_lsp_server = partial(_run, "xla-lsp-server", "language_server.server")
xla_microkernels = partial(_run, "xla-microkernels", "microkernels.command")
xla_opt = partial(_run, "xla-opt", "xla_opt")
xla_reduce = partial(_run, "xla-reduce", "reduce.command")
xla_run = partial(_run, "xla-run", "xla_run")
xla_tune = partial(_run, "xla-tune", "xla_tune")
xla_update_checks = partial(_run, "xla-update-checks", "update_checks")
