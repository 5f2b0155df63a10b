"""
How lit runs the FileCheck tests: `lit test`, with the project's tools from this environment.

`REQUIRES: mlir-opt` (or `jax`) skips a test without that peer; in CI its absence is fatal.
"""

import os
import sys

import lit.formats

TEST_ROOT = os.path.dirname(__file__)
sys.path.insert(0, TEST_ROOT)

from peers import in_ci, missing_peers, mlir_opt

config.name = "xla-dialect"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".hlo", ".lit"]
# Programs of the pytest tests, without RUN lines.
config.excludes = ["programs", "run"]
config.test_source_root = TEST_ROOT
config.test_exec_root = os.path.join(os.path.dirname(TEST_ROOT), ".lit")

# The scripts beside this interpreter: xla-opt, xla-run, filecheck.
config.environment["PATH"] = os.pathsep.join(
    (os.path.dirname(sys.executable), os.environ.get("PATH", ""))
)
if "PYTHONPATH" in os.environ:  # another checkout than the one that is installed
    config.environment["PYTHONPATH"] = os.environ["PYTHONPATH"]
config.substitutions.append(("%python", sys.executable))
config.substitutions.append(("%programs", os.path.join(TEST_ROOT, "programs")))

missing = missing_peers()
if missing and in_ci():
    lit_config.fatal("; ".join(missing.values()))
for peer, remedy in missing.items():
    lit_config.note(f"tests with `REQUIRES: {peer}` are skipped: {remedy}")
config.available_features.update({"mlir-opt", "jax"} - missing.keys())
if "mlir-opt" not in missing:
    config.substitutions.append((r"(?<![-/\w.])mlir-opt(?:-22)?(?![-\w])", mlir_opt()))
