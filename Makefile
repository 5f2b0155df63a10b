# Every target sets up what it needs: a virtual environment in .venv, renewed when pyproject.toml
# changes. Needed beforehand: make, a Python from 3.11 to 3.14 with venv, and a package index.

SHELL := /bin/sh
VENV := .venv
BIN := $(VENV)/bin
CANDIDATES := python3.14 python3.13 python3.12 python3.11 python3 python
SUITABLE := import sys, venv, ensurepip; sys.exit(not (3, 11) <= sys.version_info < (3, 15))
# The newest suitable Python on PATH, looked for only when the environment has to be made.
PYTHON ?= $(shell for candidate in $(CANDIDATES); do \
	$$candidate -c "$(SUITABLE)" >/dev/null 2>&1 && echo $$candidate && break; done)
# In CI a missing peer is an error, so there the tests get all extras; those of `test` have JAX.
TEST_EXTRAS := $(if $(CI),test browser docs mpi peers riscv tensorflow torch,test)
# Paths or options for one of the test programs: make pytest ARGS=test/reference
ARGS ?=
# How long `make fuzz` goes on, for all kinds of input together.
SECONDS ?= 60

.PHONY: help demo demo-jax test test-full docs-test lit pytest fuzz check pyright format bench partitions docs pictures site programs clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-12s %s\n", $$1, $$2 }' Makefile

demo: $(VENV)/with-jax ## A function of JAX at all levels side by side, its time beside XLA's, a page to click through
	$(BIN)/python -m tools.repository.demo

demo-training: $(VENV)/with-jax $(VENV)/with-peers ## A training script of flax on our device beside XLA's, a pass of one's own in the middle
	$(BIN)/python -m tools.repository.training_demo

test: lit pytest ## All tests but the long ones and those of the pages

test-full: $(TEST_EXTRAS:%=$(VENV)/with-%) $(VENV)/with-peers $(VENV)/with-riscv $(VENV)/with-mpi $(VENV)/with-browser $(VENV)/with-docs $(VENV)/with-libraries $(VENV)/with-tensorflow $(VENV)/with-torch ## All tests, with every peer that pip has and many more random examples
	$(BIN)/lit -v test
	HYPOTHESIS_PROFILE=full $(BIN)/pytest -n auto --full $(ARGS)

lit: $(TEST_EXTRAS:%=$(VENV)/with-%) ## The FileCheck tests
	$(BIN)/lit -v test

pytest: $(TEST_EXTRAS:%=$(VENV)/with-%) ## The Python tests, but those of the pages
	$(BIN)/pytest -n auto --ignore=test/docs $(ARGS)

docs-test: $(TEST_EXTRAS:%=$(VENV)/with-%) ## The pages: what they tell to run, and what they show of it; the wheel, by the README
	$(BIN)/pytest -n auto test/docs $(ARGS)

fuzz: $(VENV)/with-test $(VENV)/with-riscv ## Random and damaged input for so many SECONDS; ARGS='--kind hlo --seed 7'
	PYTHONPATH=test:test/support $(BIN)/python -m fuzzing --seconds $(SECONDS) $(ARGS)

check: $(VENV)/with-dev pyright ## Formatting, lint and types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

pyright: $(VENV)/with-dev
	$(BIN)/pyright --pythonpath $(BIN)/python

format: $(VENV)/with-dev ## Format the sources and fix what the linter can
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(VENV)/with-bench $(VENV)/with-mpi ## Compile time and time per call beside XLA CPU
	$(BIN)/python -m tools.repository.benchmark $(ARGS)

partitions: $(VENV)/with-peers $(VENV)/with-mpi ## Programs of JAX on 2, 4 and 8 devices: right everywhere? bytes and work beside XLA's
	PYTHONPATH=test:test/support $(BIN)/python -m partitioned_outcomes $(ARGS)

docs: $(VENV)/with-jax ## Renew docs/generated and the outputs that pages show
	$(BIN)/python -m tools.repository.docs

pictures: $(VENV)/with-core $(VENV)/with-browser ## Renew docs/pictures, the README's: Chromium is needed
	$(BIN)/python -m tools.repository.pictures

site: $(VENV)/with-docs $(VENV)/with-jax ## The pages as a site with a search: build/site/index.html
	$(BIN)/python -m sphinx --quiet --fresh-env --fail-on-warning --keep-going --nitpicky docs build/site

programs: $(VENV)/with-jax ## Make test/programs anew from JAX
	$(BIN)/python test/programs/make_programs.py

clean: ## Remove the environment and what tests left behind
	rm -rf $(VENV) build .lit .pytest_cache .ruff_cache .hypothesis

# What builds the package, the compiler of its library in C among it, stays in the environment: pip
# would unpack it anew for every extra.
REQUIREMENTS := import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["build-system"]["requires"])
INSTALL := $(BIN)/python -m pip install --quiet --no-build-isolation --editable

# A stamp is written last: an interrupted installation starts again.
$(VENV)/with-core: pyproject.toml $(wildcard lowerings/runtime/*.[ch] lowerings/runtime/*.def) lowerings/runtime/build_hook.py \
		| $(VENV)/with-pip
	$(BIN)/python -m pip install --quiet $$($(BIN)/python -c '$(REQUIREMENTS)')
	$(INSTALL) .
	touch $@

$(addprefix $(VENV)/with-,test bench browser dev docs jax libraries mpi peers riscv): $(VENV)/with-%: $(VENV)/with-core
	$(INSTALL) '.[$*]'
	touch $@

# Whose programs tests read and run; each in an environment of its own, inside of ours.
$(addprefix $(VENV)/with-,tensorflow torch): $(VENV)/with-%: test/producers/%.txt | $(VENV)/with-pip
	$(BIN)/python -m venv --clear $(VENV)/$*
	$(VENV)/$*/bin/python -m pip install --quiet --requirement $<
	touch $@

$(VENV)/with-pip:
	@test -n "$(PYTHON)" || { echo "no Python from 3.11 to 3.14 with venv found on PATH" \
		"(Debian: apt install python3-venv); or say make PYTHON=/path/to/python" >&2; exit 1; }
	$(PYTHON) -m venv --clear $(VENV)
	touch $@
