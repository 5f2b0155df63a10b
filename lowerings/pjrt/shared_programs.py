"""Programs that several processes run together, each on devices of its own."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import partial

from lowerings.execution.executable import Executable
from lowerings.execution.joint_runs import JointRuns, Others
from lowerings.execution.links import Links
from lowerings.execution.runnable import PartitionedProgram
from lowerings.pjrt.c_api import ErrorCode
from lowerings.pjrt.client import Device
from lowerings.pjrt.functions import PluginError
from lowerings.pjrt.programs import CompiledProgram
from xla_dialect.diagnostics import XlaError
from xla_dialect.element_types import Array


class SharedProgram:
    """The part of one process in such a program."""

    def __init__(self, compiled: CompiledProgram, links: Links, devices: Sequence[Device]):
        """Raises PluginError where processes cannot share it."""
        self.program = _executable(compiled)
        """What each device runs."""
        fingerprint = compiled.fingerprint[:16]
        self._name = f"{compiled.name} (fingerprint {fingerprint})"
        self._links = links
        self._processes = sorted({device.process for device in devices if not device.is_own})
        self._is_agreed = False
        self._agreeing = threading.Lock()
        self.runs: JointRuns | None = None
        """The runs of devices that exchange something; None where each computes the same."""
        if isinstance(compiled.program, PartitionedProgram):
            # 0 is what is said before the first run.
            number = int(fingerprint, 16) | 1
            links.names[number] = self._name
            of_devices = [
                None if device.is_own else links.by_process[device.process] for device in devices
            ]
            others = Others(of_devices, number)
            self.runs = JointRuns(partial(self.program.new_joint_run, others))

    def agree(self) -> None:
        """
        Before each run: waits, the first time, for the others; raises PluginError where they are
        about to run something else.
        """
        if self._is_agreed:
            return
        with self._agreeing:
            try:
                self._links.agree(self._name, self._processes)
            except XlaError as error:
                raise PluginError(ErrorCode.FAILED_PRECONDITION, str(error)) from error
            self._is_agreed = True

    def run(self, arrays: Sequence[Sequence[Array]]) -> Sequence[Sequence[Array]]:
        """The results of the devices of this process; raises PluginError where others fail."""
        if self.runs is None:
            return [self.program(*each) for each in arrays]
        found = self.program.run_together(arrays, self.runs.run)
        if found is None:
            raise self.error()
        return found

    def error(self) -> PluginError:
        """Why a run has failed."""
        return PluginError(ErrorCode.UNAVAILABLE, str(self._links.error(self._name)))


def _executable(compiled: CompiledProgram) -> Executable:
    """What each device runs; raises PluginError where that needs more than its part of arrays."""
    program = compiled.program
    is_partitioned = isinstance(program, PartitionedProgram)
    local = program.local if is_partitioned else program
    divisions = (*(compiled.parameter_divisions or ()), *(compiled.result_divisions or ()))
    if compiled.text.callbacks:
        reason = "it calls functions of Python"
    elif not isinstance(local, Executable):
        reason = "nothing runs its parts"
    elif is_partitioned and not local.can_run_jointly:
        reason = "its parts need Python while they run: random states, infeeds or checks of bounds"
    elif not is_partitioned and (
        program.process_counts != (1, 1)
        or local.asks_process
        or not all(each.is_replicated for each in divisions)
    ):
        reason = "it needs whole arrays (the log lowerings.pjrt.programs says why, at level DEBUG)"
    else:
        return local
    raise PluginError(
        ErrorCode.UNIMPLEMENTED,
        f"{compiled.name} cannot be run by several processes: {reason}",
    )
