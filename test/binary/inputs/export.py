"""Makes the files of `jax.export` beside it, which need `flatbuffers`; run by hand, once."""

from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import export
from jax.sharding import Mesh, NamedSharding, PartitionSpec

HERE = Path(__file__).parent


def affine(x: Any, y: Any) -> dict[str, Any]:
    return {"a": jnp.tanh(x) @ y, "b": (y.sum(), 3 * x)}


def write(name: str, exported: Any) -> None:
    (HERE / f"{name}.jaxexport").write_bytes(bytes(exported.serialize()))


def main() -> None:
    y = jax.ShapeDtypeStruct((8, 2), jnp.float32)
    for name, shape in (("plain", (4, 8)), ("symbolic", export.symbolic_shape("n, 8"))):
        x = jax.ShapeDtypeStruct(shape, jnp.float32)
        write(name, export.export(jax.jit(affine))(x, y))
    mesh = Mesh(np.array(jax.devices()[:4]).reshape(2, 2), ("x", "y"))
    split = NamedSharding(mesh, PartitionSpec("x", "y"))
    rows = NamedSharding(mesh, PartitionSpec("x"))
    total = jax.jit(lambda x: x * 2 + x.sum(), in_shardings=split, out_shardings=rows)
    write("sharded", export.export(total)(jax.ShapeDtypeStruct((4, 8), jnp.bfloat16)))
    sine = jax.ShapeDtypeStruct((3,), jnp.float32)
    write("platforms", export.export(jax.jit(jnp.sin), platforms=["cpu", "tpu"])(sine))


if __name__ == "__main__":
    main()
