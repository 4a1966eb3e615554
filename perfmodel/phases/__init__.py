"""What is known of each phase: one file, one formula, found by scanning this folder.

To add a phase, write a file with a ``PHASE`` over the names of ``perfmodel.symbols`` and name it in
``perfmodel.model.families``; dimension check, compiled function, formula book and contract tests follow by themselves.
"""
