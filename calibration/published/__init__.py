"""Published systems: their tables, the constants fitted to them, predicted against measured row by row."""
