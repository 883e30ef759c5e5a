# Everything happens in one virtual environment that make sets up on first use and keeps up to date.
VENV ?= .venv
PYTHON ?=
ARGS ?=
BIN = $(VENV)/bin
export PYTHON

.DEFAULT_GOAL := help
.PHONY: help chat terminal ingest setup setup-dev local test lint format settings-doc clean

help: ## This list
	@echo "Condensery: chat with your documents."
	@echo
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile
	@echo
	@echo "  PYTHON=...      the Python to use, 3.11 to 3.13 (default: the first that suits)"
	@echo "  VENV=...        the virtual environment (default: .venv)"
	@echo "  ARGS='...'      for the program that is run: make test ARGS='-k retrieval'"

chat: ingest ## Chat about the example documents in the browser (first time: sets everything up)
	@echo
	@echo "==> Opening the chat. Ctrl+C ends it; 'make terminal' chats here instead."
	@scripts/run "$(VENV)" app $(ARGS)

terminal: ingest ## The same chat in this terminal
	@scripts/run "$(VENV)" chat $(ARGS)

ingest: setup
	@echo "==> Reading the example documents"
	@scripts/run "$(VENV)" ingest examples/docs

setup: ## The virtual environment for chatting
	@scripts/setup chat "$(VENV)"

setup-dev: ## The virtual environment for working on Condensery
	@scripts/setup dev "$(VENV)"

local: ## Install the local LLM, when it was left out for want of a compiler
	@scripts/setup local "$(VENV)"

test: setup-dev ## The whole test suite
	"$(BIN)/pytest" $(ARGS)

lint: setup-dev ## Style, formatting and types
	"$(BIN)/ruff" check .
	"$(BIN)/ruff" format --check .
	"$(BIN)/mypy" -p condensery

format: setup-dev ## Put the code in order
	"$(BIN)/ruff" check --fix .
	"$(BIN)/ruff" format .

settings-doc: setup-dev ## Bring the table in docs/guides/settings.md up to date
	@"$(BIN)/python" -c "from condensery.settings_report import update; update('docs/guides/settings.md')"

clean: ## Remove the virtual environment and what tools left behind (never your documents)
	rm -rf "$(VENV)" build dist *.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
