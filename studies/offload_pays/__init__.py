"""When sampling on the SmartNIC pays on LGNNIC's hardware, and against what."""
