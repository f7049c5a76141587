"""The process that mints budgets, spawns subagents and can always stop them. It never calls a model.

Nothing is imported here: the guard forks before any import (RULINGS "Start").
"""
