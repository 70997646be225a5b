"""The only place where names become objects."""
