"""Rollouts: sessions and policies in, episodes, groups and result rows out. Knows no trainer and no configuration."""
