# The commands of Punctual. `make` alone lists them.

PYTHON ?= python3
PY := .venv/bin/python
PYTEST := $(PY) -m pytest -q
# Tests that share nothing run side by side.
SIDE_BY_SIDE := --numprocesses auto
# `make up PORT=5000` chooses the emulator's port; without it, the last one, or 4566.
ifdef PORT
export PUNCTUAL_PORT := $(PORT)
endif

.PHONY: help install up down status logs test check deploy bench clean constraints \
	check-style check-types test-unit test-integration test-infrastructure test-e2e

help: ## list the commands
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 22

install:
	@$(PYTHON) -m local.install

up: install ## start Punctual on this machine, or deploy what changed
	@$(PY) -m local up

down: ## stop it, and keep its state in .local/
	@if [ -x $(PY) ]; then $(PY) -m local down; else echo "It was not running."; fi

status: install ## say whether it runs, and where
	@$(PY) -m local status

logs: install ## follow what its functions write
	@$(PY) -m local logs

check: check-style check-types test-unit ## style, types and unit tests: under a minute

test: check-style check-types test-unit test-integration test-infrastructure test-e2e ## everything

check-style: install
	@echo "── style" && $(PY) -m ruff check . && $(PY) -m ruff format --check .

check-types: install
	@echo "── types" && $(PY) -m mypy && $(PY) -m mypy -p local

test-unit: install
	@echo "── unit tests" && $(PYTEST) $(SIDE_BY_SIDE) tests/unit

test-integration: install ## the stages against a simulated AWS, in one process
	@echo "── integration tests" && $(PYTEST) $(SIDE_BY_SIDE) tests/integration

test-infrastructure: install ## the synthesised stack
	@echo "── infrastructure tests" && $(PYTEST) tests/infrastructure

test-e2e: install ## a stack of its own, deployed
	@echo "── end-to-end tests" && $(PYTEST) tests/e2e

deploy: install ## put Punctual into the AWS account of your credentials
	@PATH="$(CURDIR)/node_modules/.bin:$$PATH" cdk deploy -c stage=prod

bench: install ## measure requests, dollars, lateness, imports, batches, graphs; draw the dashboard (PARTS="cost week" for some)
	@PYTHONPATH=layers/punctual/python:. $(PY) -m bench $(PARTS)

clean: down ## stop it, and remove everything that was made here
	rm -rf .local .build cdk.out .venv node_modules .mypy_cache .ruff_cache .hypothesis

constraints: install # renew constraints.txt after a change of requirements*.txt
	@uv=$$(grep '^uv==' constraints.txt) && first=$$(head -1 constraints.txt) && echo "$$uv" \
		| $(PY) -m uv pip compile --quiet --universal --python-version 3.11 --no-header --no-annotate \
		  --no-emit-index-url requirements-dev.txt - > .local-constraints \
		&& { echo "$$first"; cat .local-constraints; } > constraints.txt; rm -f .local-constraints
