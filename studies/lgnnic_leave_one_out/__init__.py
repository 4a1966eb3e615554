"""How well does the model predict rows of LGNNIC's table that it was not fitted to?"""
