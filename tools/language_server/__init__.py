"""`xla-lsp-server`: what editors ask about `.hlo` and `.mlir` files."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .checking import Findings


def checked(question: tuple[str, str]) -> Findings:
    """What is found in a text with the name of its file; loads the dialects when asked."""
    return import_module(f"{__package__}.checking").check(*question)
