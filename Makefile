# Two commands set everything up: make demo, make test. `make help` lists the rest.

CARGO ?= cargo
TAPEWISE := target/release/tapewise
PAPERS := hillyer cern johnson-miller

.PHONY: help demo test build check unit reproduce bench doc clean

help: ## list these commands
	@grep -E '^[a-z]+:.*##' Makefile | sed -E 's/:[^#]*## /\t/' | expand -t 12

demo: build ## the main job, without hardware
	@$(TAPEWISE) demo

test: check unit reproduce ## everything that must hold: style, lints, tests, the papers' claims

build: ## the program, optimised
	@echo "building tapewise (release; a minute or two the first time)"
	@$(CARGO) build --release --quiet --package tapewise-cli

check: ## formatting and lints
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --quiet -- -D warnings

unit: ## unit, property and front-door tests
	$(CARGO) test --workspace --quiet

reproduce: build ## the papers' tables; fails when a claim that is to hold does not
	@mkdir -p target/reproduce
	@for paper in $(PAPERS); do \
	    echo "reproduce $$paper -> target/reproduce/$$paper.txt"; \
	    $(TAPEWISE) reproduce $$paper > target/reproduce/$$paper.txt \
	        || { grep -E '^claim|FAILS' target/reproduce/$$paper.txt; exit 1; }; \
	done

bench: ## how fast ordering and parsing are, as tables
	$(CARGO) bench --quiet --package tapewise-order --bench table
	$(CARGO) bench --quiet --package tapewise-formats --bench ltfs_index

doc: build ## API documentation, man pages, shell completions
	$(CARGO) doc --workspace --no-deps --quiet
	$(TAPEWISE) manual target/man
	@echo "target/doc/tapewise_order/index.html, target/man"

clean: ## remove what was built
	$(CARGO) clean
	rm -rf demo
