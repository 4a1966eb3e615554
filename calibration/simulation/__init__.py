"""Independent answers to the formulas: event-by-event simulations of the machines that phases describe.

They are written from the machine and not from a formula, and need SimPy, which comes with ``pip install 'perfmodel[test]'``.
``cache`` replays traces and needs nothing.
"""
