from engine_fixtures import tiny_folder, vllm_policies

__all__ = ["tiny_folder", "vllm_policies"]
