from engine_fixtures import tiny_folder, vllm_policies, vllm_policy

__all__ = ["tiny_folder", "vllm_policies", "vllm_policy"]
