# make demo | test | lint | docs | bench: each does its own set-up, in .venv, and only when something changed.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
EVERYTHING := -e ".[dev,app,eb,plot,readers,datasets,prep,large,docs]" -e reproduction
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

# Two test workers share two cores: one thread each for linear algebra, two for the compiled kernels, so that
# tests on the number of threads mean something.
TEST_THREADS := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1 NUMBA_NUM_THREADS=2

.PHONY: help demo test browser lint docs bench clean
.NOTPARALLEL:
.DELETE_ON_ERROR:

help:
	@echo "make demo    unmix synthetic samples (installs the core alone)"
	@echo "make test    run the tests"
	@echo "make lint    ruff, mypy, and the layers"
	@echo "make docs    build the documentation into site/"
	@echo "make bench   the ratios: decoder and solver (benchmarks/README.md has the long runs)"
	@echo "make clean   remove the environment and caches"

demo: $(VENV)/.core
	@echo "Unmixing synthetic Raman spectra; the first run compiles before it starts."
	$(BIN)/gmcr demo

test: $(VENV)/.dev browser
	$(TEST_THREADS) $(BIN)/pytest -n 2

# The report's tests open it in Chromium. Where that cannot be had they are skipped, so this never fails.
APT := DEBIAN_FRONTEND=noninteractive timeout 600 apt-get -qq -o DPkg::Lock::Timeout=60
browser:
	@for name in chromium chromium-browser google-chrome; do command -v $$name >/dev/null && exit 0; done; \
	command -v apt-get >/dev/null || exit 0; \
	as_root=env; [ "$$(id -u)" = 0 ] || as_root="sudo -n env"; \
	echo "Installing chromium, in which the report is tested."; \
	install() { $$as_root $(APT) install -y --no-install-recommends chromium >/dev/null 2>&1; }; \
	install || { $$as_root $(APT) update >/dev/null 2>&1 && install; } \
		|| echo "chromium could not be installed; the tests that need it are skipped."

lint: $(VENV)/.dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

# The warning switched off is a note on the future of mkdocs, printed by the theme at every build.
docs: $(VENV)/.docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

bench: $(VENV)/.core
	$(BIN)/python benchmarks/decode.py
	$(BIN)/python benchmarks/speed.py

clean:
	rm -rf $(VENV) site .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find src tests benchmarks docs reproduction -name __pycache__ -prune -exec rm -rf {} +

# Stamps: newer than what they were made from, so that nothing is installed twice. pip gets a second try
# because networks fail.

$(VENV)/.created:
	@$(PYTHON) -c "import sys; sys.exit(sys.version_info < (3, 11))" \
		|| { echo "gmcr needs Python 3.11 or newer; name one with: make PYTHON=python3.12 ..." >&2; exit 1; }
	@$(PYTHON) -c "import venv, ensurepip" 2>/dev/null \
		|| { echo "Python cannot create an environment here; install Debian's python3-venv first." >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.core: $(VENV)/.created pyproject.toml constraints.txt
	@echo "Installing gmcr and what it needs (numpy, scipy, numba and others, some hundred megabytes) into $(VENV): a few minutes."
	$(INSTALL) -e . || $(INSTALL) -e .
	@touch $@

$(VENV)/.dev: $(VENV)/.created pyproject.toml reproduction/pyproject.toml constraints.txt
	$(INSTALL) $(EVERYTHING) || $(INSTALL) $(EVERYTHING)
	@touch $@ $(VENV)/.core

$(VENV)/.docs: $(VENV)/.created pyproject.toml constraints.txt
	$(INSTALL) -e ".[docs]" || $(INSTALL) -e ".[docs]"
	@touch $@ $(VENV)/.core
