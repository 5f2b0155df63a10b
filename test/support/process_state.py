"""What all of a process has in common: settings, handlers, and the functions of its modules."""

import ctypes
import dataclasses
import decimal
import faulthandler
import gc
import locale
import logging
import multiprocessing
import os
import random
import resource
import signal
import socket
import sys
import threading
import types
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

OWN = ("lowerings", "xla_dialect", "__main__")
_FUNCTIONS = (types.FunctionType, staticmethod, classmethod, property)
_LIMITS = [name for name in dir(resource) if name.startswith("RLIMIT_")]
_LEAST = np.array([5e-324, 1e-310])


def process_state() -> dict[str, Any]:
    """By names; what is compared by identity stands as it is."""
    return {
        "environment": dict(os.environ),
        "folder and mask of files": (os.getcwd(), _mask_of_files()),
        "handlers of signals": {each: signal.getsignal(each) for each in signal.valid_signals()},
        "timers": [signal.getitimer(each)[1] for each in (0, 1, 2)],
        "blocked signals": signal.pthread_sigmask(signal.SIG_BLOCK, ()),
        "faulthandler": faulthandler.is_enabled(),
        "warnings": (list(warnings.filters), warnings.showwarning),
        "logging": (logging.root.level, list(logging.root.handlers), logging.root.manager.disable),
        "loggers": _handlers_of_own_loggers(),
        "imports": (list(sys.meta_path), list(sys.path_hooks), list(sys.path)),
        "hooks": (sys.excepthook, sys.unraisablehook, threading.excepthook, sys.displayhook),
        "tracing": (sys.gettrace(), sys.getprofile()),
        "streams": (sys.stdin, sys.stdout, sys.stderr),
        "limits of Python": (
            sys.getrecursionlimit(),
            sys.getswitchinterval(),
            sys.get_int_max_str_digits(),
        ),
        "collector": (gc.isenabled(), gc.get_threshold(), gc.get_freeze_count(), gc.get_debug()),
        "numpy": (np.geterr(), np.geterrcall(), np.get_printoptions(), np.getbufsize()),
        "subnormals": np.multiply(_LEAST, 1.0).tobytes(),
        "random numbers": (random.getstate(), str(np.random.get_state())),
        "locale and decimals": (locale.setlocale(locale.LC_ALL), str(decimal.getcontext())),
        "threads that it waits for": [each for each in threading.enumerate() if not each.daemon],
        "open files": _open_files(),
        "limits of the system": {each: resource.getrlimit(getattr(resource, each)) for each in _LIMITS},
        "processors": (os.sched_getaffinity(0), os.nice(0)),
        "sockets and processes": (
            socket.getdefaulttimeout(),
            multiprocessing.get_start_method(allow_none=True),
        ),
        "dataclasses": dataclasses.dataclass,
        "functions of Python's C interface": _types_of_c_functions(),
        "functions": _functions(),
    }  # fmt: skip


def changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """What has changed, a line for each; functions count that were there before."""
    found: list[str] = []
    for name, value in before.items():
        if name == "functions":
            new = after[name]
            found += [
                f"{'.'.join(key)} is another" for key in value if new.get(key) is not value[key]
            ]
        elif value != after[name]:
            found.append(f"{name}: {value} became {after[name]}")
    return found


def _mask_of_files() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _handlers_of_own_loggers() -> list[Any]:
    loggers = logging.root.manager.loggerDict.items()
    return [
        handler
        for name, logger in loggers
        if name.startswith(OWN) and isinstance(logger, logging.Logger)
        for handler in logger.handlers
    ]


def _open_files() -> dict[str, str]:
    found: dict[str, str] = {}
    for number in os.listdir("/proc/self/fd"):
        try:
            found[number] = os.readlink(f"/proc/self/fd/{number}")
        except FileNotFoundError:  # that of the folder itself
            continue
    return found


def _types_of_c_functions() -> dict[str, Any]:
    """Of those that somebody has used; a type that nobody has set is that of a fresh one."""
    fresh = ctypes.PyDLL(None)
    found: dict[str, Any] = {}
    for name, function in vars(ctypes.pythonapi).items():
        if isinstance(function, ctypes.pythonapi._FuncPtr):
            types_ = function.restype, function.argtypes
            if types_ != (getattr(fresh, name).restype, getattr(fresh, name).argtypes):
                found[name] = types_
    return found


def _functions() -> dict[tuple[str, ...], Any]:
    """All functions and classes of the modules of others, and what those classes have."""
    found: dict[tuple[str, ...], Any] = {}
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] in OWN or not isinstance(module, types.ModuleType):
            continue
        for key, value in list(vars(module).items()):
            if isinstance(value, types.FunctionType | types.BuiltinFunctionType | type):
                found[name, key] = value
            if isinstance(value, type) and value.__module__ == name:
                for own, each in list(vars(value).items()):
                    if isinstance(each, _FUNCTIONS):
                        found[name, key, own] = each
    return found
