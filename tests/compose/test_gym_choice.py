"""Which gym a configuration stands for, and what it takes from the machine around it."""

import os
import tempfile

import pytest

from robustops.compose.environment import own_temporary_folder, secret_of
from robustops.compose.scene import build_gym
from robustops.config.check import check_serving, check_values
from robustops.config.tree import GymConfig, RunConfig, ServeConfig, ServedGymConfig, SftConfig
from robustops.core.errors import ConfigError
from robustops.gym.client import HttpGym
from robustops.gym.embedded import EmbeddedGym


@pytest.mark.parametrize("kind", ["http", "docker", "udocker", "apptainer"])
def test_every_kind_but_the_embedded_one_speaks_http(kind):
    assert isinstance(build_gym(RunConfig(gym=GymConfig(kind=kind))), HttpGym)
    assert isinstance(build_gym(RunConfig(gym=GymConfig(kind="embedded"))), EmbeddedGym)


def test_a_list_of_urls_reaches_the_gym_as_replicas_and_a_wrong_one_is_named():
    good = GymConfig(kind="http", urls={"csm": ["http://one:8001", "http://two:8001"]})
    assert isinstance(build_gym(RunConfig(gym=good)), HttpGym)
    with pytest.raises(ConfigError, match=r"gym\.urls\.csm: got 'two:8001'"):
        build_gym(RunConfig(gym=GymConfig(kind="http", urls={"csm": ["http://one:8001", "two:8001"]})))


def test_a_token_comes_from_the_variable_that_is_named(monkeypatch):
    monkeypatch.setenv("SOME_TOKEN", "secret")
    assert (secret_of("SOME_TOKEN", "k"), secret_of("", "k")) == ("secret", None)
    monkeypatch.delenv("SOME_TOKEN")
    with pytest.raises(ConfigError, match=r"gym\.token_env=SOME_TOKEN: this environment variable is not set"):
        build_gym(RunConfig(gym=GymConfig(kind="http", token_env="SOME_TOKEN")))


def test_a_temporary_folder_that_somebody_else_may_have_made_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    folder = own_temporary_folder()
    assert folder == tmp_path / f"robustops-{os.getuid()}"
    folder.symlink_to(tmp_path)
    with pytest.raises(ConfigError, match="is a link or of another user; set TMPDIR"):
        own_temporary_folder()


@pytest.mark.parametrize(
    ("config", "text"),
    [
        (ServeConfig(gym=ServedGymConfig(kind="http")), "gym.kind: got 'http', expected one of embedded, docker"),
        (ServeConfig(dry_run=True), "dry_run=true: gym=embedded starts no container"),
        (ServeConfig(restart_after=0), "restart_after: got 0, expected at least 1"),
        (ServeConfig(max_idle_s=0), "max_idle_s: got 0, expected more than 0"),
    ],
)
def test_what_cannot_be_served_is_refused_by_name(config, text):
    with pytest.raises(ConfigError) as raised:
        check_serving(config)
    assert text in str(raised.value)


def test_the_deterministic_engine_is_for_the_gym_in_this_process():
    config = RunConfig(algorithm=SftConfig(), gym=GymConfig(kind="http"))
    check_values(config)
    config.engine.deterministic = True
    with pytest.raises(ConfigError, match=r"engine\.deterministic=true: gym=http answers at times of its own"):
        check_values(config)
    config.gym.kind = "embedded"
    check_values(config)
