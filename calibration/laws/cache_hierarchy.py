"""Cost of a random access as the working set leaves three caches."""

from calibration.laws._caches import cache_law

LAW = cache_law("cache_hierarchy", levels=3)
