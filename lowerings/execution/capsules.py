"""
Python's capsules, and the addresses in them.

The types of these functions are ours alone: attributes of `ctypes.pythonapi` are everybody's.
"""

from __future__ import annotations

import ctypes
from typing import Any

_New = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
_Name = ctypes.PYFUNCTYPE(ctypes.c_char_p, ctypes.py_object)
_Pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)
_Reference = ctypes.PYFUNCTYPE(None, ctypes.py_object)

_new: Any = _New(("PyCapsule_New", ctypes.pythonapi))
_name: Any = _Name(("PyCapsule_GetName", ctypes.pythonapi))
_pointer: Any = _Pointer(("PyCapsule_GetPointer", ctypes.pythonapi))
_reference: Any = _Reference(("Py_IncRef", ctypes.pythonapi))


def new_capsule(address: int, name: bytes) -> Any:
    """A capsule of this name, which has to live as long as that."""
    return _new(address, name, None)


def capsule_name(capsule: Any) -> bytes | None:
    """What it says of the pointer in it; raises ValueError for what is no capsule."""
    return _name(capsule)


def capsule_address(capsule: Any) -> int:
    """The pointer in it; raises ValueError for what is no capsule."""
    return _pointer(capsule, _name(capsule))


def keep_for_ever(value: object) -> None:
    """Keeps an object after the end of Python's modules: machine code uses it until then."""
    _reference(value)
