"""Cost of a random access as the working set leaves two caches."""

from calibration.laws._caches import cache_law

LAW = cache_law("cache_levels", levels=2)
