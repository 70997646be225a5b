"""Synthetic tasks: a seed number in, a task set on disk out (tasks, databases, graphs, plans, split).

Names are drawn from combinations whose pools for train, val and test do not meet; ids are random with gaps. Knows no
gym: a domain here is tables to fill and templates to draw from.
"""
