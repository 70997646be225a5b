# Every target sets up what it needs. `make help` lists them.
PYTHON ?= python3
PY := .venv/bin/python
# Two busy OpenMP threads on few cores fight each other; passive waiting keeps both useful.
export OMP_WAIT_POLICY := PASSIVE
export VLLM_CPU_OMP_THREADS_BIND := nobind

.PHONY: help setup demo pass4 test test-all check docs bench lock clean
.DEFAULT_GOAL := help

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "  make %-9s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: ## make .venv with the build for this machine, and check its imports
	@$(PYTHON) requirements/install.py

demo: setup ## Base -> SFT -> RL -> paired evaluation -> report, with the tiny model
	@$(PY) -m robustops.demo

MODEL ?= runs/demo/sft/export
STAGE ?= sft
pass4: setup ## Pass@1 and Pass@4 on the validation tasks, of MODEL=FOLDER (default runs/demo/sft/export), STAGE=sft
	@$(PY) -m robustops.evaluate +experiment=tiny_eval_pass4 model.path=$(MODEL) model.stage=$(STAGE) run.dir=$(MODEL)/../pass4
	@$(PY) -m analysis.report $(MODEL)/../pass4 --out $(MODEL)/../pass4/report

test: setup ## the test suite, long tests at about a tenth of their size
	@$(PY) -m pytest -q

test-all: setup ## the test suite at full size; writes its table to runs/test-all.md
	@ROBUSTOPS_TEST_SIZE=full $(PY) -m pytest -q --report-table runs/test-all.md

check: setup ## ruff, mypy and the import rules
	@.venv/bin/ruff format --check . && .venv/bin/ruff check . && .venv/bin/mypy && .venv/bin/lint-imports

docs: setup ## the documentation as a site in build/site, warnings being errors
	@NO_MKDOCS_2_WARNING=1 .venv/bin/mkdocs build --strict && echo build/site/index.html

bench: setup ## the benchmarks; rows are appended to benchmarks/results.jsonl
	@$(PY) -m benchmarks

# CPU torch for the lock: a local folder of wheels if the environment names one, else PyTorch's CPU index.
CPU_TORCH := $(if $(PIP_FIND_LINKS),--find-links $(PIP_FIND_LINKS),--extra-index-url https://download.pytorch.org/whl/cpu --index-strategy unsafe-best-match)

lock: ## resolve the .lock files again (needs uv, which `make setup` puts into .venv)
	$(PY) -m uv pip compile -q requirements/cpu.in --override requirements/overrides.txt --python-version 3.11 \
	  --python-platform x86_64-manylinux_2_28 --no-annotate --no-header -o requirements/cpu.lock \
	  $(CPU_TORCH)
	$(PY) -m uv pip compile -q requirements/gpu.in --python-version 3.11 \
	  --python-platform x86_64-manylinux_2_28 --no-annotate --no-header -o requirements/gpu.lock
	$(PY) -m uv pip compile -q requirements/hf.in --python-version 3.11 --universal --no-annotate --no-header -o requirements/hf.lock

clean: ## remove the environment and runs/
	rm -rf .venv runs
