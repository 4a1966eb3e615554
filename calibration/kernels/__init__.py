"""Micro-runs on the machine at hand: one kernel a file, found by scanning this folder.

To add a kernel, write a file with a ``KERNEL``: what it isolates, its unit of work, the points it is run at, and a
block of work at a point. It is measured by ``perfmodel calibrate`` and can be named with ``--only``.
"""
