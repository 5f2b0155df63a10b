"""
JAX's own tests on our device and on XLA's CPU, from a checkout of JAX's repository of the version
that is installed: what passes there and here, in a table, and each exception with its reason.

    PYTHONPATH=test python -m jax_tests ~/jax lax_test nn_test --sample 100
"""

from __future__ import annotations

import argparse
from pathlib import Path

from jax_tests.sessions import Session, Table, run_tests

FILES = """
    api_test array_test array_interoperability_test batching_test checkify_test
    compilation_cache_test custom_api_test debug_nans_test debugging_primitives_test dtypes_test
    export_test fft_test image_test jet_test layout_test lax_autodiff_test lax_control_flow_test
    lax_numpy_einsum_test lax_numpy_indexing_test lax_numpy_operators_test lax_numpy_reducers_test
    lax_numpy_setops_test lax_numpy_test lax_numpy_ufuncs_test lax_numpy_vectorize_test
    lax_scipy_sparse_test lax_scipy_special_functions_test lax_scipy_test lax_test lax_vmap_op_test
    lax_vmap_test linalg_test memories_test multi_device_test mutable_array_test nn_test ode_test
    pjit_test pmap_test polynomial_test python_callback_test random_impl_test random_lax_test
    random_test scipy_fft_test scipy_interpolate_test scipy_ndimage_test scipy_optimize_test
    scipy_signal_test scipy_spatial_test scipy_stats_test shard_map_test sparse_bcoo_bcsr_test
    sparse_test sparsify_test transfer_guard_test
""".split()
"""The files that concern a backend."""


def main() -> None:
    """Runs the files and prints the table, and each exception with its reason."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("checkout", type=Path, help="of jax-ml/jax, at the installed version")
    parser.add_argument("files", nargs="*", default=FILES, help="names in `tests`, without .py")
    parser.add_argument("--cases", type=int, default=1, help="random cases of each property")
    parser.add_argument("--devices", type=int, default=8)
    parser.add_argument("--limit", type=float, default=1200, help="seconds for a file")
    parser.add_argument("--test-limit", type=float, default=120, help="seconds for a test")
    parser.add_argument("--sample", type=int, help="so many tests of a file")
    parser.add_argument("--seed", type=int, default=0, help="which ones")
    parser.add_argument(
        "--brief", action="store_true", help="XLA's CPU gets only the tests that do not pass here"
    )
    parser.add_argument(
        "--keep",
        type=Path,
        metavar="FOLDER",
        help="outcomes and what pytest prints are kept there; what is there is not run again",
    )
    options = parser.parse_intermixed_args()
    session = Session(
        options.checkout,
        options.sample,
        options.cases,
        options.devices,
        options.limit,
        options.test_limit,
        options.keep,
        options.brief,
        options.seed,
    )
    table = Table()
    print(table.head(), flush=True)
    for file in options.files:
        xdsl = run_tests(session, file, "xdsl")
        xla = run_tests(session, file, "xla", xdsl)
        print(table.add(file, xla, xdsl), flush=True)
    print(table.summary())


if __name__ == "__main__":
    main()
