"""What TRL's trainers are told so that a step is a step: on the CPU, nothing logged or saved, one constant rate."""

QUIET = {
    "lr_scheduler_type": "constant",
    "use_cpu": True,
    "gradient_checkpointing": False,
    "logging_strategy": "no",
    "save_strategy": "no",
    "report_to": "none",
    "disable_tqdm": True,
    "dataloader_num_workers": 0,
    "dataloader_pin_memory": False,
}
