"""The search for the best offload plan: spaces of plans, their exact sweep, studies."""
