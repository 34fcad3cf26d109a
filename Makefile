# `make` alone lists the targets. They install into .venv and node_modules and keep data in var. Only
# the tests and `make bench` install Debian packages, and only when root runs them.

SHELL := /bin/sh
ifndef PYTHON
PYTHON := $(shell python3.11 -c '' 2>/dev/null && echo python3.11 || echo python3)
endif
VENV := .venv/bin/python
PIP := $(VENV) -m pip install --quiet --disable-pip-version-check

.NOTPARALLEL:
.PHONY: help run test test-all lint coverage bench soak audit images clean

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | while IFS="$$(printf '\t')" read -r name text; \
		do printf 'make %-8s %s\n' "$$name" "$$text"; done

run: .venv/installed ## start a demo with simulated reports on http://127.0.0.1:8000; PORT=8080 for another port
	@exec $(VENV) -m operations.demo

test: .venv/installed-dev ## check everything in a few minutes; for a part: .venv/bin/python -m tests.run sqlite -- -k word
	@exec $(VENV) -m tests.run basic

test-all: .venv/installed-dev ## also test every browser, all of PostgreSQL, faults and simulations
	@exec $(VENV) -m tests.run basic rest

lint: .venv/installed-dev ## run ruff, mypy, import-linter, tsc and Biome
	@exec $(VENV) -m tests.run lint

coverage: .venv/installed-dev ## show how much of each Python and JavaScript file the tests run; about 15 minutes
	@exec $(VENV) -m tests.run --coverage node sqlite slow browser

bench: .venv/installed-dev ## run the benchmarks in bench/
	@$(VENV) -m tests.support.packages wrk PostgreSQL
	@for file in $$(grep -l __main__ bench/*.py | grep -v soak); do \
		name=$${file#bench/}; name=$${name%.py}; echo "=== bench.$$name"; \
		$(VENV) -m "bench.$$name" || exit 1; done
	@$(VENV) -m tests.support.packages wrk PostgreSQL

soak: .venv/installed-dev ## load a site and kill its parts for five minutes; check that every report is counted once
	@exec $(VENV) -m bench.soak

audit: .venv/installed-dev ## compare millions of runs of the shipped randomizer with its exact probabilities
	@exec $(VENV) -m tests.statistical.audit

images: .venv/installed-dev ## take the pictures for the documentation again, from a real demo
	@exec $(VENV) -m docs.images

clean: ## remove .venv, node_modules and caches, but keep the demo's data in var
	@rm -rf .venv node_modules .mypy_cache .ruff_cache .pytest_cache .hypothesis test-results
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

# One stamp for running and one for testing, so that nothing is installed twice and a changed pin is
# noticed.

.venv/installed: requirements.txt constraints.txt | .venv/ready
	@echo "Installing the pinned requirements into .venv. This takes about half a minute, once."
	@$(PIP) -r requirements.txt || { echo "Could not install the requirements. See pip's message above."; exit 1; }
	@touch $@

.venv/installed-dev: requirements-dev.txt requirements.txt constraints.txt | .venv/ready
	@echo "Installing the pinned requirements and test tools into .venv. This takes about a minute, once."
	@$(PIP) -r requirements-dev.txt || { echo "Could not install the requirements. See pip's message above."; exit 1; }
	@touch .venv/installed $@

# The tests make this target, because they may have to install npm first.
node_modules/.installed: package.json package-lock.json .npmrc
	@echo "Installing the pinned npm packages into node_modules. This takes about half a minute, once."
	@npm ci >/dev/null || { echo "Could not install the npm packages. See npm's message above."; exit 1; }
	@touch $@

# A missing or broken .venv (its Python was moved or replaced) is made again. This is checked first,
# because the stamps of a broken one must be gone before make reads them.
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
