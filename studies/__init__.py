"""Questions asked of the model, one folder each.

A study holds its question, inputs, method and answer (``README.md``), the program that computes the answer
(``study.py``; ``python -m studies.NAME`` runs it again), and the answer as last computed (``answer.json``). The tables and
pictures of the README are drawn from ``answer.json``; a test in ``tests/studies`` computes the answer again, or a fast part
of it, and holds both to it. An answer stands as it turned out, misses included.
"""
