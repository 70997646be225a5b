"""Every experiment composes, and says what the design says."""

from __future__ import annotations

import pytest
from hydra import compose

from robustops import cli
from robustops.config import GrpoConfig, RunConfig, SftConfig, typed
from robustops.core.errors import ConfigError

pytestmark = pytest.mark.usefixtures("hydra_knows_the_tree")

EXPERIMENTS = cli.options("experiment")


def composed(primary: str, *overrides: str) -> RunConfig:
    config = typed(compose(primary, overrides=[*overrides, "run.dir=somewhere"]))
    assert isinstance(config, RunConfig)
    return config


def primary_of(experiment: str) -> str:
    if experiment.endswith("_data"):
        return "collect"
    return "evaluate" if "eval" in experiment else "train"


@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_every_experiment_composes(experiment: str) -> None:
    needs_file = ["algorithm.demonstrations=file"] if experiment == "sft" else []
    config = composed(primary_of(experiment), f"+experiment={experiment}", *needs_file)
    assert config.run.name == experiment


@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_every_experiment_states_its_claim_and_its_command(experiment: str) -> None:
    text = (cli.conf_dir() / "experiment" / f"{experiment}.yaml").read_text()
    assert "# Claim:" in text
    assert f"+experiment={experiment}" in text.split("# Command: ")[1].splitlines()[0]


def test_rl120_is_the_paper_scale_run() -> None:
    config = composed("train", "+experiment=rl120")
    algorithm = config.algorithm
    assert isinstance(algorithm, GrpoConfig)
    assert (algorithm.steps, algorithm.clean_groups, algorithm.fault_groups, algorithm.group_size) == (120, 16, 16, 4)
    assert (algorithm.lr, algorithm.kl_coef, algorithm.temperature, algorithm.delay_steps) == (1e-6, 0.001, 1.0, 10)
    assert (config.model.max_context_tokens, config.model.reserve_tokens, config.model.stage) == (32768, 2048, "sft")
    assert config.reward.weights == [1.0, 0.3, 0.1]
    assert config.reward_norm.kind == "component"
    assert config.hardware.precision == "bf16"


def test_sft_defaults_are_those_of_the_paper() -> None:
    algorithm = composed("train", "algorithm=sft", "algorithm.demonstrations=file").algorithm
    assert isinstance(algorithm, SftConfig)
    assert (algorithm.epochs, algorithm.lr, algorithm.batch_size) == (3, 3e-6, 8)


def test_a_teacher_is_collected_from_as_the_paper_does() -> None:
    config = composed("collect", "+experiment=teacher_data")
    assert (config.model.max_context_tokens, config.model.reserve_tokens) == (32768, 4096)
    assert config.engine.max_tokens_per_turn == 4096
    wanted = config.collection
    assert (wanted.teacher, wanted.task_share, wanted.retry_temperature, wanted.guidance) == ("api", 0.8, 0.6, True)
    assert config.fault_policy.name == "train"


def test_the_expert_s_recipe_is_200_tasks_of_three_domains() -> None:
    config = composed("collect", "+experiment=expert_data")
    assert round(config.split.num_train * config.collection.task_share) == 200
    assert config.split.domains == ["csm", "itsm", "hr"]


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("collection.task_share=0", "collection.task_share: got 0"),
        ("collection.fault_share=1.5", "collection.fault_share: got 1.5"),
        ("collection.retry_temperature=0", "collection.retry_temperature: got 0"),
        ("collection.formats=[hf,verll]", "collection.formats: got 'verll'.*Did you mean 'verl'"),
        ("model.api.requests_per_minute=0", "model.api.requests_per_minute: got 0, expected at least 1"),
    ],
)
def test_an_impossible_collection_is_refused(override: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        composed("collect", override)


@pytest.mark.parametrize("option", ["eval_16g", "eval_32g"])
def test_small_cards_evaluate_few_episodes_at_a_time(option: str) -> None:
    config = composed("evaluate", f"hardware={option}")
    assert config.engine.concurrency == {"eval_16g": 1, "eval_32g": 2}[option]


@pytest.mark.parametrize(
    ("override", "expected"),
    [
        ("algorithm.group_size=1", "algorithm.group_size: got 1, expected at least 2"),
        ("algorithm.lr=0", "algorithm.lr: got 0.0, expected more than 0"),
        ("split.limit=0", "split.limit: got 0, expected at least 1"),
        ("reward.weights=[1,0.3,-0.1]", "none of them negative"),
        ("reward.weights=[1,0.3]", "expected 3 numbers"),
        ("model.reserve_tokens=1536", "expected less than model.max_context_tokens (1536)"),
        ("logger.mode=ofline", "Did you mean 'offline'?"),
        ("engine.urls=[http://one:8000] engine=hf", "got engine.kind=hf; write engine=vllm"),
        ("engine.compiled=true engine=hf", "engine.compiled=true: got engine.kind=hf"),
        ("engine.compiled=true engine.urls=[http://one:8000]", "do=model compiled=true"),
        ("engine.urls=[one:8000]", "engine.urls: got 'one:8000', expected http://HOST:PORT"),
        (
            "engine.urls=[http://one:8000] engine.server_patience_s=1800",
            "engine.server_patience_s: got 1800, expected less than gym.timeouts.episode_s (1800)",
        ),
        ("collection.fault_share=2", "collection.fault_share: got 2.0, expected 0 to 1"),
    ],
)
def test_an_impossible_value_names_its_key_and_what_is_possible(override: str, expected: str) -> None:
    with pytest.raises(ConfigError) as refused:
        composed("train", *override.split())
    assert expected in str(refused.value)
