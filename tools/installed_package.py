"""
`xla_dialect_tools`, the name under which `tools` is installed: half of all projects have a `tools`.

A wheel has the modules beside this one. In an editable installation they are those of the checkout.
"""

from pathlib import Path

if not Path(__file__).with_name("xla_opt.py").exists():
    from tools import __path__ as __path__
