"""Programs of one kernel, whose schedules tests search."""

from lowerings.driver.program import load_program
from lowerings.targets.llvm.machine import Machine, host
from lowerings.tuning.program_search import TunableKernel, tunable_kernels

SHAPES = "(tensor<19x23xf32>, tensor<23x29xf32>) -> tensor<19x29xf32>"
PRODUCT = f"""
func.func @main(%a: tensor<19x23xf32>, %b: tensor<23x29xf32>) -> tensor<19x29xf32> {{
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : {SHAPES}
  return %0 : tensor<19x29xf32>
}}
"""
SPECS = ["--input", "19x23xf32=1.0", "--input", "23x29xf32=2.0"]


def elementwise(operation: str) -> str:
    """A sum over columns of a result of two operands."""
    return f"""
        func.func @main(%a: tensor<37x11xf32>, %b: tensor<37x11xf32>) -> tensor<11xf32> {{
          %zero = stablehlo.constant dense<0.0> : tensor<f32>
          %0 = stablehlo.{operation} %a, %b : tensor<37x11xf32>
          %1 = stablehlo.reduce(%0 init: %zero) applies stablehlo.add across dimensions = [0]
              : (tensor<37x11xf32>, tensor<f32>) -> tensor<11xf32>
          return %1 : tensor<11xf32>
        }}
    """


def kernel_of(program: str, machine: Machine | None = None) -> TunableKernel:
    """The kernel of a program, with the schedule that is planned for a machine: this one if none."""
    (kernel,) = tunable_kernels(load_program(program), "main", machine or host())
    return kernel
