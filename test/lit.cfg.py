"""
How lit runs the FileCheck tests: `lit test`, with the project's tools from this environment.

`REQUIRES: mlir-opt` (or another peer) skips a test without it; what was not tested is said at the
end. In CI the absence is fatal.
"""

import atexit
import os
import sys
from pathlib import Path

import lit.formats

TEST_ROOT = os.path.dirname(__file__)
sys.path.insert(0, os.path.join(TEST_ROOT, "support"))

from peers import PEERS, missing_peers, mlir_opt, unexpectedly_missing
from xla_dialect_tools.serving.lit import serve_tools

config.name = "xla-dialect"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".hlo", ".lit"]
# Programs of the pytest tests, without RUN lines.
config.excludes = ["programs"]
config.test_source_root = TEST_ROOT
config.test_exec_root = os.path.join(os.path.dirname(TEST_ROOT), ".lit")

config.environment["XLA_COMPILE_CACHE"] = "0"
if "PYTHONPATH" in os.environ:  # another checkout than the one that is installed
    config.environment["PYTHONPATH"] = os.environ["PYTHONPATH"]
config.substitutions.append(("%python", sys.executable))
config.substitutions.append(("%programs", os.path.join(TEST_ROOT, "programs")))

config.available_features.update(PEERS.keys() - missing_peers().keys())
texts = [
    path.read_text(encoding="utf-8")
    for path in Path(TEST_ROOT).rglob("*")
    if path.suffix in config.suffixes and path.parent.name not in config.excludes
]
for peer, remedy in missing_peers().items():
    count = sum(f"REQUIRES: {peer}\n" in text for text in texts)
    if count and peer in unexpectedly_missing():
        lit_config.fatal(remedy)
    if count:
        atexit.register(print, f"not tested are {count} files that need {peer}: {remedy}")

if mlir_opt() is not None:
    config.substitutions.append((r"(?<![-/\w.])mlir-opt(?:-22)?(?![-\w])", mlir_opt()))

config.environment["PATH"] = os.pathsep.join(
    (os.path.dirname(sys.executable), os.environ.get("PATH", ""))
)
# Loading a tool takes longer than most tests do, so that is done once, in a server.
serve_tools(config)
