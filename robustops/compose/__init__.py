"""The only place where names become objects. Enters: a `RunConfig` and a run folder. Leaves: a finished run."""
