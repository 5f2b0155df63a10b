"""Whether MLIR itself takes what we print."""

import subprocess


def assert_mlir_takes(mlir_opt_path: str, *texts: str) -> None:
    """Asserts that `mlir-opt` parses and verifies modules, all in one run."""
    answer = subprocess.run(
        [mlir_opt_path, "--split-input-file", "-o", "/dev/null"],
        input="\n// -----\n".join(texts),
        capture_output=True,
        text=True,
        check=False,
    )
    assert answer.returncode == 0, answer.stderr[:2000]
