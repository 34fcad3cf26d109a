# `make` alone lists what there is. Everything is installed into .venv and node_modules and kept in
# var; only the tests and `make bench`, run by root, may install Debian packages.

SHELL := /bin/sh
ifndef PYTHON
PYTHON := $(shell python3.11 -c '' 2>/dev/null && echo python3.11 || echo python3)
endif
VENV := .venv/bin/python
PIP := $(VENV) -m pip install --quiet --disable-pip-version-check

.NOTPARALLEL:
.PHONY: help run test test-all lint coverage bench soak audit images clean

help: ## explain every target (what `make` alone does)
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | while IFS="$$(printf '\t')" read -r name text; \
		do printf 'make %-8s %s\n' "$$name" "$$text"; done

run: .venv/installed ## a demo with invented reports on http://127.0.0.1:8000; PORT=8080 for another port
	@exec $(VENV) -m operations.demo

test: .venv/installed-dev ## a few minutes; `.venv/bin/python -m tests.run sqlite -- -k word` for a part
	@exec $(VENV) -m tests.run basic

test-all: .venv/installed-dev ## everything: also every browser, all of PostgreSQL, faults and simulations
	@exec $(VENV) -m tests.run basic rest

lint: .venv/installed-dev ## ruff, mypy and import-linter, tsc and Biome only
	@exec $(VENV) -m tests.run lint

coverage: .venv/installed-dev ## how much of each Python and JavaScript file the tests run; 15 minutes or so
	@exec $(VENV) -m tests.run --coverage node sqlite slow browser

bench: .venv/installed-dev ## the benchmarks in bench/, each printing ratios measured in one run
	@$(VENV) -m tests.support.packages wrk PostgreSQL
	@found=; for file in $$(grep -l __main__ bench/*.py | grep -v soak); do found=yes; \
		name=$${file#bench/}; name=$${name%.py}; echo "=== bench.$$name"; \
		$(VENV) -m "bench.$$name" || exit 1; done; \
		[ "$$found" ] || echo "There is no benchmark in bench/ yet."
	@$(VENV) -m tests.support.packages wrk PostgreSQL

soak: .venv/installed-dev ## five minutes at half of the peak with every fault there is; does it all add up?
	@exec $(VENV) -m bench.soak

audit: .venv/installed-dev ## run the shipped randomizer millions of times against its exact probabilities
	@exec $(VENV) -m tests.statistical.audit

images: .venv/installed-dev ## make the pictures of the documentation anew, from a real demo
	@exec $(VENV) -m docs.images

clean: ## remove .venv, node_modules and the tools' caches; var, with the demo's data, stays
	@rm -rf .venv node_modules .mypy_cache .ruff_cache .pytest_cache .hypothesis test-results
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

# One stamp for what running needs and one for what testing needs, so that nothing is installed
# twice and a changed pin is noticed.

.venv/installed: requirements.txt constraints.txt | .venv/ready
	@echo "Installing the pinned requirements into .venv: half a minute or so, once."
	@$(PIP) -r requirements.txt || { echo "The requirements could not be installed: pip says why above."; exit 1; }
	@touch $@

.venv/installed-dev: requirements-dev.txt requirements.txt constraints.txt | .venv/ready
	@echo "Installing the pinned requirements, and those of the tests, into .venv: a minute or so, once."
	@$(PIP) -r requirements-dev.txt || { echo "The requirements could not be installed: pip says why above."; exit 1; }
	@touch .venv/installed $@

# Made by the tests, because they may install npm first.
node_modules/.installed: package.json package-lock.json .npmrc
	@echo "Installing what package.json pins into node_modules: half a minute or so, once."
	@npm ci >/dev/null || { echo "The packages could not be installed: npm says why above."; exit 1; }
	@touch $@

# Made anew where it is missing or does not work any more, because its Python was moved or replaced.
# Looked at first of all, because the stamps of a broken one must be gone before make reads them.
WORKS := $(shell $(VENV) -c 'import sys, pip; sys.exit(sys.version_info[:2] != (3, 11))' 2>/dev/null \
	&& echo yes || rm -f .venv/installed .venv/installed-dev)

.PHONY: .venv/ready
.venv/ready:
	@[ -z "$(WORKS)" ] || exit 0; \
	version=$$($(PYTHON) -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null); \
	[ "$$version" = 3.11 ] || { \
		echo "Candor needs Python 3.11; $(PYTHON) here is $${version:-missing}. Set PYTHON=/path/to/python3.11."; \
		exit 1; }; \
	[ -w . ] || { echo "Candor cannot make .venv: the folder $$PWD is not writable."; exit 1; }; \
	$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { \
		echo "$(PYTHON) cannot make virtual environments; on Debian: apt-get install python3-venv."; exit 1; }; \
	echo "Making .venv with $$($(PYTHON) --version)."; \
	rm -rf .venv && $(PYTHON) -m venv .venv
