"""Which faults suit which tools of a task: proposed by rule or by a language model. Narrows, decides nothing."""
