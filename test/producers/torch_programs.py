"""
Programs of torch: `python torch_programs.py FOLDER` writes the StableHLO that torch-mlir makes of
them, and their arguments and results.
"""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F
from torch_mlir import fx

torch.manual_seed(0)


def floats(*sizes: int) -> torch.Tensor:
    return torch.rand(sizes) * 2 - 1


def integers(limit: int, *sizes: int) -> torch.Tensor:
    return torch.randint(0, limit, sizes)


class Calling(nn.Module):
    """A function as a module, whose parameters are those of other modules."""

    def __init__(self, function: Callable[..., Any], *parts: nn.Module):
        super().__init__()
        self.function = function
        self.parts = nn.ModuleList(parts)

    def forward(self, *arguments: torch.Tensor) -> Any:
        return self.function(*self.parts, *arguments)


def block(attend: nn.Module, norm: nn.Module, x: torch.Tensor) -> torch.Tensor:
    return norm(x + attend(x, x, x, need_weights=False)[0])


PROGRAMS: dict[str, tuple[nn.Module, list[torch.Tensor]]] = {
    "perceptron": (
        nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4), nn.Softmax(-1)),
        [floats(3, 8)],
    ),
    "convolutions": (
        nn.Sequential(
            nn.Conv2d(3, 6, 3, stride=2, padding=1), nn.BatchNorm2d(6), nn.ReLU(), nn.MaxPool2d(2)
        ),
        [floats(1, 3, 12, 12)],
    ),
    "groups": (nn.Conv2d(4, 8, 3, groups=4, dilation=2), [floats(2, 4, 9, 9)]),
    "line": (nn.Conv1d(3, 5, 4, padding=2), [floats(2, 3, 11)]),
    "transposed": (nn.ConvTranspose2d(3, 4, 3, stride=2), [floats(1, 3, 5, 5)]),
    "average": (nn.AvgPool2d(2), [floats(1, 3, 8, 8)]),
    "adaptive": (nn.AdaptiveAvgPool2d(1), [floats(2, 3, 6, 6)]),
    "attention": (
        Calling(lambda q, k, v: torch.softmax(q @ k.transpose(-1, -2) / 2.0, -1) @ v),
        [floats(2, 3, 5, 4), floats(2, 3, 6, 4), floats(2, 3, 6, 4)],
    ),
    "transformer": (
        Calling(block, nn.MultiheadAttention(8, 2, batch_first=True), nn.LayerNorm(8)),
        [floats(2, 5, 8)],
    ),
    "embedding": (nn.Embedding(10, 4), [integers(10, 3, 5)]),
    "layer_norm": (nn.LayerNorm(6), [floats(4, 6)]),
    "group_norm": (nn.GroupNorm(2, 4), [floats(2, 4, 5)]),
    "activations": (
        Calling(lambda x: (F.gelu(x), F.silu(x), F.elu(x), F.leaky_relu(x), torch.sigmoid(x))),
        [floats(4, 5)],
    ),
    "gathered": (Calling(lambda x, i: torch.gather(x, 1, i)), [floats(4, 6), integers(6, 4, 3)]),
    "selected": (Calling(lambda x, i: x.index_select(0, i)), [floats(5, 3), integers(5, 4)]),
    "reduced": (
        Calling(
            lambda x: (x.sum(1), x.mean((0, 2)), x.amax(-1), torch.linalg.vector_norm(x, dim=1))
        ),
        [floats(3, 4, 5)],
    ),
    "largest": (Calling(lambda x: x.argmax(1)), [floats(5, 6)]),
    "sums": (Calling(lambda x: torch.cumsum(x, 1)), [floats(4, 6)]),
    "moved": (
        Calling(lambda x: torch.cat([x.flip(0), x.roll(1, 1), F.pad(x, (0, 0, 1, 2))], 0)[:, ::2]),
        [floats(4, 6)],
    ),
    "where": (
        Calling(lambda x, y: torch.where(x > y, torch.exp(x), y.clamp(-0.5, 0.5))),
        [floats(4, 5), floats(5)],
    ),
    "integers": (
        Calling(lambda x, y: (x // (y + 1), x % (y + 1), x & y, x * 3, x > y)),
        [integers(100, 8), integers(100, 8)],
    ),
    "special": (
        Calling(lambda x: (torch.erf(x), torch.log1p(x.abs()), torch.atan2(x, x + 2))),
        [floats(9)],
    ),
    "einsum": (
        Calling(lambda x, y: torch.einsum("bij,bkj->bik", x, y)),
        [floats(2, 3, 4), floats(2, 5, 4)],
    ),
    "sorted": (Calling(lambda x: torch.topk(x, 3)), [floats(4, 7)]),
    "half": (
        Calling(lambda x, y: (x.bfloat16() @ y.bfloat16()).float()),
        [floats(4, 6), floats(6, 3)],
    ),
}


def main(folder: Path) -> None:
    """Writes each program with its arguments and results."""
    for name, (module, arguments) in PROGRAMS.items():
        module.eval()
        made = fx.export_and_import(module, *arguments, output_type="stablehlo")
        (folder / f"{name}.mlir").write_text(str(made))
        with torch.no_grad():
            results = module(*arguments)
        flat = results if isinstance(results, tuple) else (results,)
        entries = {f"argument{i}": each.numpy() for i, each in enumerate(arguments)}
        entries |= {f"result{i}": each.numpy() for i, each in enumerate(flat)}
        np.savez(folder / f"{name}.npz", **entries)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
