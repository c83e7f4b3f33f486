PREFIX ?= /usr/local
DESTDIR ?=
PROGRAMS := $(notdir $(wildcard Sources/dm-*))
RELEASE := swift build -c release --static-swift-stdlib

.PHONY: demo test build install lint bench generate setup setup-bench

demo: build
	PATH="$(CURDIR)/bin:$$PATH" sh examples/demo

test: setup
	swift build --build-tests
	swift test --skip-build

# The programs, stripped, in bin/.
build: setup
	$(RELEASE)
	mkdir -p bin
	for p in $(PROGRAMS); do strip -s -o bin/$$p "$$($(RELEASE) --show-bin-path)/$$p" || exit; done

install: build
	install -d $(DESTDIR)$(PREFIX)/bin $(addprefix $(DESTDIR)$(PREFIX)/share/man/man,1 5 7)
	install -m 755 $(addprefix bin/,$(PROGRAMS)) $(DESTDIR)$(PREFIX)/bin
	for s in 1 5 7; do install -m 644 man/*.$$s $(DESTDIR)$(PREFIX)/share/man/man$$s || exit; done
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/share/bash-completion/completions completions/bash/*
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/share/zsh/site-functions completions/zsh/*
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d completions/fish/*

lint:
	swift format lint --strict --recursive Sources Tests Package.swift
	sh bench/lint

bench: build setup-bench
	PATH="$(CURDIR)/bin:$$PATH" sh bench/run

# What is generated and committed: the completions.
generate: setup
	swift build
	for p in $(PROGRAMS); do b="$$(swift build --show-bin-path)/$$p"; \
	  $$b --generate-completion bash >completions/bash/$$p && \
	  $$b --generate-completion zsh >completions/zsh/_$$p && \
	  $$b --generate-completion fish >completions/fish/$$p.fish || exit; done

setup:
	@sh examples/../bench/setup libsqlite3-dev:/usr/include/sqlite3.h pkg-config jq

setup-bench:
	@sh bench/setup hyperfine sqlite3
