"""LGNNIC's table, predicted by fits that did not see the rows."""
