"""Cost of a random access as the working set leaves one cache."""

from calibration.laws._caches import cache_law

LAW = cache_law("cache_capacity", levels=1)
