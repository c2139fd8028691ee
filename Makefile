# make demo   set up what is needed, run the experiment, print its tables
# make test   set up what is needed, run every test
# The other targets set nothing up.

GO ?= go
BIN := bin/stalemate

# The race detector needs a C compiler; without one the tests run all the same.
RACE := $(shell command -v $$($(GO) env CC) >/dev/null 2>&1 && echo -race)

# Packages whose tests search and simulate: the race detector makes them ten times
# slower and has little to find, so it sees a part of their tests and all of the
# others'.
PURE := ./checker ./internal/... ./reports/html ./scenarios ./systems/kraft/... ./systems/push ./systems/sim
LIVE = $(filter-out $(shell $(GO) list $(PURE)),$(shell $(GO) list ./...))

# How long each fuzz target runs, how many random histories of each model are
# compared with porcupine, and how often each property is tried.
FUZZTIME ?= 30s
FUZZ_HISTORIES ?= 100000
RAPID_CHECKS ?= 1000

# Property tests draw from one seed, so that a test fails for everybody or for
# nobody; make fuzz draws anew each time.
export RAPID_SEED ?= 1

STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2

.PHONY: images test-docker kafka test-kafka endurance build compare demo test test-browser unit cycles bench lint fuzz mutants guards clean help

build: $(BIN)

.PHONY: $(BIN)
$(BIN):
	CGO_ENABLED=0 $(GO) build -o $@ ./cmd/stalemate

demo: build
	scripts/ensure-zookeeper
	$(BIN) demo
	$(BIN) compare --seeds 10

# All systems for real, under the same faults: under four minutes with real Kafka.
compare: build
	scripts/ensure-zookeeper
	$(BIN) compare --on local

test: build
	scripts/ensure-zookeeper
	$(GO) vet ./...
	$(GO) test $(RACE) -timeout 20m $(LIVE)
	STALEMATE_FUZZ_HISTORIES=50 $(GO) test $(RACE) -short -timeout 20m $(PURE)
	$(GO) test -timeout 20m $(PURE)

# The report in a real browser. make test looks at it too where there is one.
test-browser:
	scripts/ensure-chromium
	$(GO) test -run Browser ./reports/html ./reports/serve

# An image of ZooKeeper for a Docker engine that reaches no registry, from the
# packages of this machine.
images:
	scripts/ensure-zookeeper
	scripts/zookeeper-image

# The same of Kafka, one image of each generation, from the jars that make kafka brings.
.PHONY: kafka-images
kafka-images: kafka
	scripts/kafka-images

# Nodes as containers of the Docker engine that there is.
test-docker: build
	STALEMATE_DOCKER=1 $(GO) test -count 1 -timeout 10m ./systems/docker
	STALEMATE_DOCKER=1 $(GO) test -count 1 -timeout 10m -run Contained ./systems/zookeeper
	STALEMATE_DOCKER=1 $(GO) test -count 1 -timeout 10m -run 'Contained|AnImage' ./systems/kafka
	STALEMATE_DOCKER=1 $(GO) test -count 1 -timeout 10m -run InContainers ./cmd/stalemate ./scenarios

# The jars of real Kafka, in both generations.
kafka:
	scripts/ensure-kafka

test-kafka: kafka
	STALEMATE_KAFKA=1 $(GO) test $(RACE) -timeout 20m ./systems/kafka

# Everything that needs no server.
unit:
	$(GO) test -short -timeout 5m ./...

# Every scenario by processes too, held against the simulator: about seven minutes.
.PHONY: scenarios
scenarios:
	scripts/ensure-zookeeper
	STALEMATE_SCENARIOS=1 $(GO) test -timeout 30m -run BothWorlds -v ./scenarios

# The same in containers: eight minutes.
.PHONY: scenarios-docker
scenarios-docker: build
	STALEMATE_SCENARIOS=1 STALEMATE_DOCKER=1 $(GO) test -count 1 -timeout 30m -run BothWorldsAgreeInContainers -v ./scenarios

# A hundred clusters of processes, started and stopped: about four minutes.
cycles:
	STALEMATE_CYCLES=100 $(GO) test -timeout 30m -run LeavesNothing -v ./systems/processes

# The same in containers: nine minutes.
.PHONY: cycles-docker
cycles-docker: build
	STALEMATE_CYCLES=100 STALEMATE_DOCKER=1 $(GO) test -count 1 -timeout 30m -run ContainersLeavesNothing -v ./systems/processes

# push and kraft under all faults, one every 2.5 s, for TIME each: nothing recorded is
# lost, the tool's memory stays flat, and kraft keeps its promise. The runs are kept in
# store, to be looked at with stalemate check.
TIME ?= 10m
endurance:
	scripts/ensure-zookeeper
	STALEMATE_ENDURANCE=$(TIME) STALEMATE_ENDURANCE_STORE=$(CURDIR)/store $(GO) test -count=1 -timeout 90m -run TestEndurance -v ./internal/live

bench: build
	$(GO) run ./internal/bench

lint:
	@unformatted=$$(gofmt -l cmd checker histories internal nemesis policy reports systems workloads); \
	if [ -n "$$unformatted" ]; then echo "gofmt would change:"; echo "$$unformatted"; exit 1; fi
	$(GO) vet ./...
	$(GO) run $(STATICCHECK) ./...

fuzz: export RAPID_SEED = 0
fuzz:
	$(GO) test -timeout 30m $$(grep -rl --include=*_test.go pgregory.net/rapid . | xargs -n 1 dirname | sort -u) -rapid.checks $(RAPID_CHECKS)
	STALEMATE_FUZZ_HISTORIES=$(FUZZ_HISTORIES) $(GO) test -timeout 2h ./checker
	@for package in $$($(GO) list ./...); do \
	  for target in $$($(GO) test -list '^Fuzz' $$package | grep '^Fuzz'); do \
	    echo "$$package $$target"; \
	    $(GO) test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) $$package || exit 1; \
	  done; \
	done

mutants:
	$(GO) run ./internal/mutants

# What each protection of push and kraft is worth. SEEDS=10000 runs the whole.
SEEDS ?= 10
guards:
	$(GO) run ./internal/guards -seeds $(SEEDS)

clean:
	rm -rf bin

help:
	@sed -n '1,3s/^# //p' Makefile
	@echo "make build, compare, scenarios, scenarios-docker, unit, test-browser, images, kafka-images, test-docker, kafka, test-kafka, cycles, cycles-docker, endurance, bench, lint, fuzz, mutants, guards, clean"
