"""When does sampling on the SmartNIC pay on LGNNIC's hardware, and against what?"""
