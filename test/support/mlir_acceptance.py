"""Whether MLIR itself takes what we print."""

import subprocess
from collections.abc import Sequence


def assert_mlir_takes(mlir_opt_path: str, *texts: str, options: Sequence[str] = ()) -> None:
    """Asserts that `mlir-opt` parses and verifies modules, all in one run."""
    answer = subprocess.run(
        [mlir_opt_path, "--split-input-file", *options, "-o", "/dev/null"],
        input="\n// -----\n".join(texts),
        capture_output=True,
        text=True,
        check=False,
    )
    assert answer.returncode == 0, answer.stderr[:2000]
