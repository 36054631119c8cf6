# Commands of Punctual. `make` without a target lists them.

PYTHON ?= python3
PY := .venv/bin/python
PYTEST := $(PY) -m pytest -q
# Tests without shared state run in parallel.
SIDE_BY_SIDE := --numprocesses auto
# `make up PORT=5000` sets the emulator's port. The default is the last port, or 4566.
ifdef PORT
export PUNCTUAL_PORT := $(PORT)
endif

# Each process of the tests and of the emulator would otherwise compile all modules again.
unexport PYTHONDONTWRITEBYTECODE

BIN := node_modules/.bin

.PHONY: help install up down status logs notices demo pictures test check docs preflight bootstrap deploy bench clean released lock constraints \
	check-style check-types test-unit test-integration test-infrastructure test-e2e \
	test-model test-simulator simulate check-console console-types

help: ## list the commands
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 22

install:
	@$(PYTHON) -m local.install

up: install ## start Punctual on this machine, or deploy changes
	@$(PY) -m local up

down: ## stop Punctual and keep its state in .local/
	@if [ -x $(PY) ]; then $(PY) -m local down; else echo "Punctual was not running."; fi

status: install ## show whether Punctual is running, and its address
	@$(PY) -m local status

logs: install ## follow the logs of functions and containers
	@$(PY) -m local logs

notices: install ## show notices and alarms as they arrive
	@$(PY) -m local notices

demo: install ## submit the jobs of a data-quality team, to look at in the console
	@$(PY) -m local demo

pictures: install ## store the pictures of the console in docs/pictures; before, run make up and make demo, and wait some minutes
	@$(PY) -m tests.e2e.browser

check: check-style check-types check-console test-unit ## run style and type checks and unit tests: about a minute

test: check-style check-types check-console ## run all checks and tests, suites in parallel: about 13 minutes
	@$(PY) -m tests.run

docs: install ## regenerate the diagrams and tables of docs/, and the example of a stage's settings
	@$(PY) docs/generate.py
	@$(PY) stages/generate.py

check-style: install
	@echo "── style" && $(PY) -m ruff check . && $(PY) -m ruff format --check .

check-types: install
	@echo "── types" && $(PY) -m mypy

check-console: install
	@echo "── console" && cd console && ../$(BIN)/biome check --log-level=error && ../$(BIN)/tsc --noEmit && ../$(BIN)/vitest run --reporter=dot
	@$(PYTEST) tests/integration/test_console_types.py

console-types: install ## generate the console's types from the OpenAPI document
	@UPDATE_CONSOLE_TYPES=1 $(PYTEST) tests/integration/test_console_types.py

test-unit: install
	@echo "── unit tests" && $(PYTEST) $(SIDE_BY_SIDE) tests/unit

test-integration: install ## run the stages against a simulated AWS, in one process
	@echo "── integration tests" && $(PYTEST) $(SIDE_BY_SIDE) tests/integration

test-infrastructure: install ## test the synthesised stack and the local tooling
	@echo "── infrastructure tests" && $(PYTEST) tests/infrastructure

test-e2e: install ## test a separately deployed local stack
	@echo "── end-to-end tests" && $(PYTEST) --numprocesses 4 --dist loadfile tests/e2e

test-model: install ## explore every state of the gate protocol
	@echo "── model" && $(PYTEST) tests/model

test-simulator: install ## test the simulator, and run today's seeds
	@echo "── simulator" && $(PYTEST) tests/simulator

SEEDS ?= 1 100
simulate: install ## run the engine under random schedules and faults (SEEDS="1 1000": first and last seed; SEEDS="1 10000 --short": short schedules)
	@PYTHONPATH=layers/punctual/python:. $(PY) -m tests.simulator $(SEEDS)

STAGE ?= prod
preflight: install ## check this machine and the AWS account of your credentials for a deployment; changes nothing
	@$(PY) -m cdk.deploy preflight --stage $(STAGE)

bootstrap: install ## prepare the account and Region of your credentials for the CDK, once
	@$(PY) -m cdk.deploy bootstrap

deploy: install ## deploy a stage to the account of your credentials (STAGE=test: with the settings in stages/test.toml)
	@$(PY) -m cdk.deploy deploy --stage $(STAGE)

bench: install ## measure cost, lateness and import times, and draw the dashboard (PARTS="cost week" runs only some)
	@PYTHONPATH=layers/punctual/python:. $(PY) -m bench $(PARTS)

clean: down ## stop Punctual and remove all generated files
	rm -rf .local .build cdk.out .venv node_modules .mypy_cache .ruff_cache .hypothesis

released: install # after a release: store which tables, indexes and other stateful resources upgrades start from
	@PYTHONPATH=layers/punctual/python:. $(PY) -m tests.infrastructure.stateful

lock: install ## write the lock files of the deployed packages, after a change of layers/vendor/requirements.txt
	@$(PY) -m cdk.lock

constraints: install # update constraints.txt and the lock files after a change of requirements*.txt
	@uv=$$(grep '^uv==' constraints.txt) && first=$$(head -1 constraints.txt) && echo "$$uv" \
		| $(PY) -m uv pip compile --quiet --universal --python-version 3.11 --no-header --no-annotate \
		  --no-emit-index-url requirements-dev.txt - > .local-constraints \
		&& { echo "$$first"; cat .local-constraints; } > constraints.txt; rm -f .local-constraints
	@$(PY) -m cdk.lock
	@first=$$(head -1 tests/infrastructure/checkov.txt) && grep '^checkov==' tests/infrastructure/checkov.txt \
		| $(PY) -m uv pip compile --quiet --universal --python-version 3.11 --no-header --no-annotate \
		  --no-emit-index-url - > .local-constraints \
		&& { echo "$$first"; cat .local-constraints; } > tests/infrastructure/checkov.txt; rm -f .local-constraints
