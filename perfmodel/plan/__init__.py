"""Capacity planning: which fleet meets the targets of all jobs as they grow, at what cost, and with what probability.

Data flows spec -> growth -> demand (the model's times, with their draws) -> choices (what a job takes, alone or shared)
-> fleet (the cheapest, proven) -> result; ``what_if`` asks again with other inputs.
"""
