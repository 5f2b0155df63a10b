from dataclasses import dataclass

from xdsl.passes import ModulePass

from xla_dialect.ops.elementwise import AbsOp


@dataclass(frozen=True)
class DropAbsPass(ModulePass):
    name = "drop-abs"

    most: int = 9

    def apply(self, ctx, op):
        for each in [each for each in op.walk() if isinstance(each, AbsOp)][: self.most]:
            each.results[0].replace_all_uses_with(each.operand)
            each.detach()
            each.erase()
