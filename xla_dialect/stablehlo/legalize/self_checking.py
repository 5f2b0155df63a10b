"""Checks, prints, probes and `run_parallel`: the same operations beside both dialects."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from xdsl.dialects.builtin import DenseResourceAttr
from xdsl.ir import Operation, SSAValue

from xla_dialect.self_checking.check import CHECK
from xla_dialect.self_checking.interpreter import INTERPRETER
from xla_dialect.stablehlo.conversion import Conversion
from xla_dialect.stablehlo.legalize.from_xla import FromXla, LegalizeFromXla
from xla_dialect.xdsl.creation import create
from xla_dialect.xdsl.operation_table import OperationTable

_OPERATIONS = (*CHECK.operations, *INTERPRETER.operations)


def convert_check(op: Operation, conversion: Conversion) -> Sequence[SSAValue]:
    """The same operation on the converted values, with literals for resources."""
    properties = {
        name: conversion.literal_of_resource(value, op)
        if isinstance(value, DenseResourceAttr)
        else value
        for name, value in op.properties.items()
    }
    return conversion.add(
        create(
            type(op),
            operands=conversion.operands(op),
            result_types=conversion.result_types(op),
            properties=properties,
        )
    )


def check_of_xla(op: Operation, legalization: FromXla) -> Sequence[SSAValue]:
    """The same operation on the values of StableHLO."""
    operands, types = legalization.operands(op), legalization.result_types(op)
    return legalization.emit(type(op), operands, types, op.properties).results


LEGALIZATIONS: Mapping[str, Callable[[Any, Conversion], Sequence[SSAValue]]] = {
    op.name: convert_check for op in _OPERATIONS
}

FROM_XLA = OperationTable[LegalizeFromXla]().add(_OPERATIONS, check_of_xla)
