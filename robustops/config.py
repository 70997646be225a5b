"""The typed configuration tree."""
