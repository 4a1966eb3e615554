"""From measurements to parameters: fits, their uncertainty, and predicted against measured."""
