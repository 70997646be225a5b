"""The benchmark's containers, with executables that note how they are called in place of docker and its kin."""

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import aiohttp
import pytest
from runtime_stage import FakeRuntime, container, free_port, until

from robustops.compose.serve import run as serve_command
from robustops.config.tree import ServeConfig, ServedGymConfig
from robustops.core.errors import ConfigError, GymTimeout, GymUnavailable
from robustops.gym.public import BY_DOMAIN
from robustops.gym.runtime.commands import RUNTIMES
from robustops.gym.runtime.images import IMAGES
from robustops.gym.runtime.service import ContainerOptions, planned, serve_containers


@pytest.fixture
def fake(tmp_path, monkeypatch):
    return FakeRuntime(tmp_path, monkeypatch)


def test_every_domain_has_an_image_and_none_has_two():
    assert set(IMAGES) == set(BY_DOMAIN)
    digests = {image.digest for image in IMAGES.values()}
    assert len(digests) == 7
    assert all(len(digest) == 64 and int(digest, 16) for digest in digests)
    assert {name: image.port for name, image in IMAGES.items()} == {**dict.fromkeys(IMAGES, 8005), "calendar": 8003}


def test_docker_publishes_the_containers_own_port_and_raises_its_descriptors(tmp_path):
    launch = RUNTIMES["docker"](IMAGES["calendar"], "n", 18003, tmp_path)
    image = (
        "shivakrishnareddyma225/enterpriseops-gym-mcp-calendar"
        "@sha256:994c5421a6dd065861bc7f813a177f6d408875e9df60fe8d012959bc4510da02"
    )
    assert launch.run == (
        *("docker", "run", "--rm", "--init", "--name", "n", "--platform", "linux/amd64"),
        *("--ulimit", "nofile=65536:65536", "--publish", "127.0.0.1:18003:8003", image),
    )
    assert launch.prepare[-1].argv == ("docker", "pull", "--quiet", "--platform", "linux/amd64", image)
    assert [step.argv for step in launch.stop] == [("docker", "stop", "--time", "5", "n")]


def test_udocker_moves_the_server_and_tells_it_so(tmp_path):
    launch = RUNTIMES["udocker"](IMAGES["drive"], "n", 18009, tmp_path)
    assert launch.run == (
        *("udocker", "run", "--env=FASTAPI_BASE_URL=http://127.0.0.1:18009"),
        *("--env=MCP_SERVER_HOST=127.0.0.1", "--env=MCP_SERVER_PORT=18009", "--workdir=/app", "n"),
        *("python", "-m", "uvicorn", "app.main:app", "--host", "127.0.0.1", "--port", "18009"),
    )
    latest = "shivakrishnareddyma225/enterpriseops-gym-mcp-drive:latest"
    assert [step.argv[1:] for step in launch.prepare] == [("rm", "n"), ("pull", latest), ("create", "--name=n", latest)]


def test_apptainer_keeps_databases_in_a_folder_of_the_containers_own(tmp_path):
    launch = RUNTIMES["apptainer"](IMAGES["csm"], "n", 18001, tmp_path)
    assert launch.scratch == tmp_path / "n"
    assert f"{tmp_path}/n:/app/databases" in launch.run
    assert launch.run[launch.run.index("--env") + 1] == "API_BASE_URL=http://127.0.0.1:18001"
    assert f"docker://{IMAGES['csm'].pinned}" in launch.run


@pytest.mark.parametrize("runtime", RUNTIMES)
async def test_a_container_is_healthy_when_it_has_started_and_gone_when_it_has_stopped(fake, runtime):
    its_container, port = container(fake, runtime)
    await its_container.start()
    (pid,) = fake.living()
    async with aiohttp.ClientSession() as http, http.get(f"{its_container.url}/health") as response:
        assert (response.status, (await response.json())["pid"]) == (200, pid)
    launch = RUNTIMES[runtime](IMAGES["csm"], f"robustops-csm-{port}", port, fake.scratch)
    assert fake.calls() == [list(argv) for argv in (*(step.argv for step in launch.prepare), launch.run)]
    assert launch.scratch is None or launch.scratch.is_dir()
    await its_container.stop()
    await its_container.stop()  # a second time does no harm
    assert fake.living() == []
    assert fake.calls()[-1] == list(launch.stop[-1].argv if launch.stop else launch.run)
    assert launch.scratch is None or not launch.scratch.exists()


@pytest.mark.parametrize(
    ("mode", "error", "text"),
    [
        ("dies", GymUnavailable, "ended with exit code 1 at its start: exec format error"),
        ("no-pull", GymUnavailable, "exit code 1: manifest unknown"),
        ("mute", GymTimeout, r"health did not answer within 1 s; raise start_timeout_s"),
    ],
)
async def test_a_container_that_does_not_start_says_why_and_leaves_nothing(fake, mode, error, text):
    fake.set(mode=mode)
    its_container, _ = container(fake, start_timeout_s=1)
    with pytest.raises(error, match=text):
        await its_container.start()
    assert fake.living() == []


async def test_a_start_that_is_cancelled_leaves_nothing(fake):
    fake.set(mode="mute")
    its_container, _ = container(fake)
    starting = asyncio.create_task(its_container.start())
    await until(lambda: any(call[1] == "run" for call in fake.calls()))
    starting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await starting
    assert fake.calls()[-1][1] == "stop"


async def test_a_runtime_that_is_not_installed_is_named(fake, monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(ConfigError, match=r"gym=docker: there is no executable 'docker' on PATH"):
        await container(fake)[0].start()


def options(fake, runtime="docker"):
    return ContainerOptions(runtime=runtime, folder=fake.scratch, start_timeout_s=20.0)


async def test_serving_starts_a_container_a_domain_and_stops_all_when_cancelled(fake):
    port_offset = free_port() - BY_DOMAIN["csm"].port
    if not 0 < port_offset < 40000:
        port_offset = 20000
    ready = asyncio.get_running_loop().create_future()
    serving = asyncio.create_task(
        serve_containers(["csm"], options(fake), port_offset=port_offset, on_ready=ready.set_result)
    )
    await asyncio.wait([ready, serving], return_when=asyncio.FIRST_COMPLETED)
    (served,) = ready.result()
    assert served.url == f"http://127.0.0.1:{8001 + port_offset}"
    async with aiohttp.ClientSession() as http, http.get(f"{served.url}/health") as response:
        assert response.status == 200
    (run,) = [call for call in fake.calls() if call[1] == "run"]
    assert f"127.0.0.1:{8001 + port_offset + 10_000}:8005" in run
    serving.cancel()
    with pytest.raises(asyncio.CancelledError):
        await serving
    assert fake.living() == []
    assert fake.calls()[-1][1] == "stop"


async def test_one_container_that_does_not_start_stops_the_others(fake):
    fake.set(mode="dies")
    with pytest.raises(GymUnavailable, match="exec format error"):
        await serve_containers(["csm"], options(fake), port_offset=20000)
    assert fake.living() == []


def test_a_dry_run_names_every_command_and_runs_none(fake):
    steps = planned(options(fake), ["all"])
    runs = [step.argv for step in steps if step.argv[1] == "run"]
    assert len(runs) == 7
    ports = sorted(int(part.split(":")[1]) for run in runs for part in run if part.startswith("127.0.0.1:"))
    assert ports == sorted(server.port + 10_000 for server in BY_DOMAIN.values())
    assert fake.calls() == []


def test_a_domain_without_an_image_lists_those_with_one(fake):
    with pytest.raises(ConfigError, match="domain=cms: no image; expected all or one of csm"):
        planned(options(fake), ["cms"])


async def test_a_port_for_several_domains_is_a_mistake(fake):
    with pytest.raises(ConfigError, match="use port_offset"):
        await serve_containers(["all"], options(fake), port=9000)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_the_command_stops_its_containers_when_it_is_told_to(fake, number):
    port = free_port()
    port -= 20_000 if port > 50_000 else 0  # the container's own port is 10,000 above
    argv = [sys.executable, "-m", "robustops.serve", "gym=docker", "domain=hr", f"port={port}"]
    with subprocess.Popen(
        argv,
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # ignored where the tests run in background
    ) as process:
        try:
            assert any(line.startswith("hr: http://127.0.0.1:") for line in process.stdout)
            assert len(fake.living()) == 1
            process.send_signal(number)
            process.wait(timeout=60)
            assert fake.living() == []
        finally:
            process.kill()
            for pid in fake.living():
                os.kill(pid, signal.SIGKILL)
    assert fake.calls()[-1][1] == "stop"


def test_a_dry_run_of_the_command_prints_what_it_would_run(fake, capsys):
    config = ServeConfig(gym=ServedGymConfig(kind="udocker"), domain="teams", port=9002, dry_run=True)
    serve_command(config, fake.scratch)
    lines = capsys.readouterr().out.splitlines()
    image = "shivakrishnareddyma225/enterpriseops-gym-mcp-teams:latest"
    assert lines == [
        "udocker rm robustops-teams-19002",
        f"udocker pull {image}",
        f"udocker create --name=robustops-teams-19002 {image}",
        "udocker run --env=API_PORT=19002 --workdir=/app robustops-teams-19002 "
        "python -m uvicorn main:app --host 127.0.0.1 --port 19002",
        "udocker rm robustops-teams-19002",
    ]
    assert fake.calls() == []
