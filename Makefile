# Everything a developer or the CI does. `make` alone lists it.

GO ?= go

.DEFAULT_GOAL := help
.SHELLFLAGS := -euo pipefail -c
SHELL := bash

TOOLCHAIN := .toolchain
BROWSER := $(TOOLCHAIN)/browser
STATE := .towpath
CONTROLLER_GEN := $(GO) tool controller-gen

# The pinned programs come before any others of their name.
export PATH := $(CURDIR)/$(TOOLCHAIN)/bin:$(PATH)

.PHONY: help
help: ## List the targets.
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-15s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: run
run: toolchain build ## Build and start everything: control plane, portal, golden paths.
	@exec bin/towpath dev

.PHONY: toolchain
toolchain: ## Build the pinned Pulumi and Kubernetes programs (long the first time).
	@$(GO) run ./deploy/toolchain -o $(TOOLCHAIN)

.PHONY: build
build: ## Build towpath and towpath-runner into bin/.
	@mkdir -p bin
	@$(GO) build -o bin/ ./cmd/towpath ./cmd/towpath-runner

# The journeys come last.
.PHONY: test
test: toolchain build browser ## Run all tests, against real parts and in a real browser.
	$(GO) test -timeout 30m $$($(GO) list ./... | grep -v /e2e)
	@$(MAKE) --no-print-directory e2e

# Debian's Chromium, driven by Playwright from npm: e2e/browser pins both.
.PHONY: browser
browser: ## Install what the browser tests need (Chromium and npm packages).
	@e2e/browser/install $(BROWSER)

# One package after the other: each starts whole clusters. The tests in a browser
# wait for the portal most of the time, so more of them run at once than there are
# cores.
.PHONY: e2e
e2e: toolchain build browser ## Run only the journeys, by command line and browser.
	$(GO) test -timeout 30m ./e2e
	$(GO) test -timeout 30m -parallel 16 ./e2e/browser

.PHONY: screenshots
screenshots: toolchain build browser ## Take pictures of all pages into docs/screenshots.
	$(GO) test -timeout 30m ./e2e/browser -run '^TestScreenshots$$' -args -screenshots $(CURDIR)/docs/screenshots

.PHONY: generate
generate: ## Generate deep copies and CRDs from the Go types, and Go from the templates.
	$(CONTROLLER_GEN) object paths=./controller/api/...
	$(CONTROLLER_GEN) crd:crdVersions=v1,maxDescLen=300 paths=./controller/api/... output:crd:dir=deploy/crd
	$(GO) tool templ generate -path components

# What generate, gofmt or tidy would change shows as a difference to the tree as
# it was before, so verify also works with uncommitted work.
.PHONY: verify
verify: ## Check that generated files, formatting and go.mod are as they should be.
	@before=$$(mktemp) after=$$(mktemp); trap 'rm -f "$$before" "$$after"' EXIT; \
	fingerprint() { git status --porcelain; git diff; }; \
	fingerprint > "$$before"; \
	$(MAKE) --no-print-directory generate; \
	fingerprint > "$$after"; \
	diff "$$before" "$$after" || { echo "verify: generated files were not current; commit what make generate has changed."; exit 1; }
	@unformatted=$$(gofmt -l $$(git ls-files '*.go')); \
	test -z "$$unformatted" || { echo "verify: run gofmt -w on:"; echo "$$unformatted"; exit 1; }
	$(GO) vet ./...
	$(GO) mod tidy -diff
	$(GO) test ./deploy/toolchain

.PHONY: lint
lint: ## Run the linters of .golangci.yml.
	@$(GO) build -C deploy/toolchain/lint -ldflags '-s -w' -o $(CURDIR)/$(TOOLCHAIN)/bin/golangci-lint github.com/golangci/golangci-lint/v2/cmd/golangci-lint
	golangci-lint run

.PHONY: bench-preview
bench-preview: toolchain build ## Measure previews against bare pulumi preview.
	@$(GO) run ./e2e/bench-preview

.PHONY: bench-web
bench-web: toolchain build ## Measure the portal with 1,000 services and 20 readers.
	@$(GO) run ./e2e/bench-web

# towpath dev holds a lock on its state while it runs.
.PHONY: clean
clean: ## Remove the state of towpath dev and the built programs (not the toolchain).
	@if [ -e $(STATE)/controlplane/lock ] && ! flock --nonblock $(STATE)/controlplane/lock true; then \
		echo "clean: towpath dev is running (process $$(cat $(STATE)/controlplane/lock)); stop it first."; exit 1; \
	fi
	rm -rf $(STATE) bin
