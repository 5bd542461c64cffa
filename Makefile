# opcrew: a crew of Kubernetes operators in one Go binary. `make` lists the targets.

SHELL := /bin/bash -o pipefail
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

# Name of the operator's image, in any form that Docker accepts. The default name is for the local cluster: no registry
# has it.
IMG ?= opcrew.invalid/opcrew:dev
# Names of the images of the agent in users' pods, and of the program that saves and restores etcd. If a name is empty,
# it is derived from IMG.
AGENT_IMG ?=
BACKUP_IMG ?=
# Where docker-push sends images: registry, local (the nodes of the local cluster), or auto (depends on each image's
# name).
PUSH ?= auto
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
NODES ?= 3
# If set, as in `make up SYSTEMD=1`, each node of the local cluster has its own Debian system with systemd.
SYSTEMD ?=
# Flags that `make test` and `make quick` add to go test, such as -count=1.
TESTFLAGS ?=
# Parts of the fault tests that `make faults` runs, such as NodePool-2. If empty, it runs all parts.
PARTS ?=
# Flags of `make faults-sample`. Another seed selects other faults.
FAULTS ?= -faults.seed 1 -faults.budget 60s
# Flags with the sizes of `make bench`. The default gives the sizes in docs/benchmarks.md; an empty BENCH= gives small
# sizes.
BENCH ?= -nodes 5000 -pools 50 -objects 1000 -machines 1000

# All go commands share these flags, because a build with other flags compiles all packages again. The build takes a
# quarter less time without debug information and with fewer garbage collections in the compiler.
BUILD_FLAGS := -trimpath -buildvcs=false -gcflags=all=-dwarf=false
export CGO_ENABLED := 0
export GOFLAGS := $(filter-out $(BUILD_FLAGS) -buildvcs=%,$(GOFLAGS)) $(BUILD_FLAGS)

BIN := $(CURDIR)/bin
LOCAL := $(BIN)/localcluster
LOCAL_KUBECONFIG := $(BIN)/kubeconfig
KUBECONFIG ?= $(if $(wildcard $(LOCAL_KUBECONFIG)),$(LOCAL_KUBECONFIG),$(HOME)/.kube/config)
export KUBECONFIG
KUBECTL := $(BIN)/kubectl
# Namespaces to which `make deploy` limits the operator, separated by commas. If empty, the operator serves all
# namespaces.
NAMESPACES ?=
NARROW = $(if $(NAMESPACES),go run ./hack/rights namespaced '$(NAMESPACES)',cat)
# The command that derives the names of the three images, and that builds and pushes the images.
IMAGES = $(LOCAL) opcrew --bin '$(BIN)' --image '$(IMG)' --agent-image '$(AGENT_IMG)' --backup-image '$(BACKUP_IMG)'

# The layers of the operator and the kinds of each layer. The layer's role is generated from the markers in the packages
# of its kinds.
LAYERS := machines applications data
KINDS_machines := nodepool activity machineconfig
KINDS_applications := appservice microservicedeploy diva
KINDS_data := memcached etcdcluster etcdbackup etcdrestore redisenterprisecluster
# Kinds that are installed separately, with a role of their own.
KINDS_separate := machineconfig

# Versions of tools. hack/localcluster/go.mod has the versions of the local cluster's programs.
CONTROLLER_GEN_VERSION := v0.23.0
KWOK_VERSION := v0.8.0
GOLANGCI_LINT_VERSION := v2.15.0
GOVULNCHECK_VERSION := v1.9.0
KUBERNETES_VERSION := $(shell sed -n 's/^\tk8s.io\/kubernetes \(v[0-9.]*\).*/\1/p' hack/localcluster/go.mod)
# Linker flags for the packages that match a pattern. If several patterns match, the last one applies.
LDFLAGS := -ldflags "-s -w" -ldflags "github.com/opcrew/opcrew/cmd/...=-s -w -X main.version=$(VERSION)" \
	-ldflags "github.com/opcrew/opcrew/hack/localcluster/cmd/kube=-s -w \
	-X k8s.io/component-base/version.gitVersion=$(KUBERNETES_VERSION) \
	-X k8s.io/component-base/version.gitMajor=$(word 1,$(subst ., ,$(KUBERNETES_VERSION:v%=%))) \
	-X k8s.io/component-base/version.gitMinor=$(word 2,$(subst ., ,$(KUBERNETES_VERSION:v%=%))) \
	-X k8s.io/client-go/pkg/version.gitVersion=$(KUBERNETES_VERSION)"
GO_BUILD = GOGC=400 go build $(VERBOSE) $(LDFLAGS)

# Debian packages with the programs that the local cluster's nodes run.
PACKAGES := containerd runc containernetworking-plugins iptables nftables conntrack iproute2 procps

##@ Start here

.PHONY: help
help: ## List the targets.
	@awk 'BEGIN {FS = ":.*## "} /^##@/ {printf "\n%s\n", substr($$0, 5)} /^[a-zA-Z_0-9-]+:.*## / {printf "  %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: up
up: need-root need-go $(BIN)/step ## Start a local cluster with the operator and the samples (root; 7 to 12 minutes the first time, on two processors).
	@$(call step,1,15,install Debian packages) $(MAKE) packages
	@$(call step,2,60,download Go modules,-unit modules -count "^go: downloading ") $(MAKE) -j 2 modules std
	@$(call step,3,60,build the tool that makes the cluster,$(COMPILED)) $(MAKE) local $(BIN)/pause VERBOSE=-v
	@$(call step,4,400,build Kubernetes $(KUBERNETES_VERSION) and opcrew,$(COMPILED) -total $$(wc -l < $(BIN)/packages)) \
		$(MAKE) -j 2 binaries sample-images VERBOSE=-v
	@$(call step,5,15,start the cluster) $(LOCAL) up --nodes $(NODES) $(if $(SYSTEMD),--systemd) --kubeconfig-out $(LOCAL_KUBECONFIG)
	@$(call step,6,20,deploy opcrew) $(MAKE) local-deploy KUBECONFIG=$(LOCAL_KUBECONFIG)
	@$(call step,7,30,apply the samples,-show) $(MAKE) samples KUBECONFIG=$(LOCAL_KUBECONFIG)
	@$(MAKE) table KUBECONFIG=$(LOCAL_KUBECONFIG)

# Runs one step of `make up`. Arguments: the number; the seconds on two idle processors without caches; the name; flags
# of hack/step.
step = $(BIN)/step -n $(1) -of 7 -expect $(2)s -log $(BIN)/log/up-$(1).log $(4) "$(3)"
COMPILED := -unit packages -count "^[^ ]+$$"

.PHONY: down
down: need-root local ## Remove the local cluster and everything that it created on this machine.
	@$(LOCAL) down

.PHONY: test
test: need-go ## Run all tests that need no root: unit tests, and then integration tests on a real API server.
	@TESTFLAGS="$(TESTFLAGS)" hack/test pure
	@$(MAKE) kube $(BIN)/kwok $(BIN)/redis-server
	@TESTFLAGS="$(TESTFLAGS)" hack/test servers

.PHONY: quick
quick: need-go $(BIN)/golangci-lint ## Run the tests that start no server, and the linters on what changed since main (a minute).
	@TESTFLAGS="$(TESTFLAGS)" hack/test quick

##@ Development

.PHONY: build
build: generated ## Build the operator: bin/opcrew.
	@$(GO_BUILD) -o $(BIN)/opcrew ./cmd/opcrew

.PHONY: agent
agent: ## Build the agents that run in users' pods and on hosts: bin/opcrew-agent and bin/opcrew-machine.
	@$(GO_BUILD) -o $(BIN)/ ./cmd/opcrew-agent ./cmd/opcrew-machine

.PHONY: backup
backup: ## Build the program that saves and restores snapshots of etcd: bin/opcrew-backup.
	@$(GO_BUILD) -o $(BIN)/opcrew-backup ./cmd/opcrew-backup

# The generator creates a folder for the group twice (etcd/etcd/v1beta2), so the command removes one of the two. It runs
# per group, because each group needs its own schema.
.PHONY: generate
generate: $(BIN)/controller-gen ## Generate DeepCopy methods and apply configurations.
	@echo "generating DeepCopy methods and apply configurations (about 1 minute)"
	@rm -rf applyconfigurations/*/
	@$(BIN)/controller-gen object:headerFile=hack/boilerplate.go.txt applyconfiguration:headerFile=hack/boilerplate.go.txt paths=./api/...
	@cd applyconfigurations && for group in */; do mv $$group$$group* $$group && rmdir $$group$$group; done && \
		find . -name '*.go' -exec sed -i -E 's|(applyconfigurations/([a-z]+))/\2/|\1/|' {} + && gofmt -w .

.PHONY: manifests
manifests: $(BIN)/controller-gen ## Generate CRDs and the roles of the layers.
	@echo "generating CRDs and roles (about 20 seconds)"
	@$(BIN)/controller-gen crd paths=./api/... output:crd:artifacts:config=config/crd/bases
	@mv config/crd/bases/machineconfiguration.openshift.io_*.yaml config/machineconfig/bases/
	@$(foreach layer,$(LAYERS),$(BIN)/controller-gen rbac:roleName=opcrew paths=./internal/kit \
		$(foreach kind,$(filter-out $(KINDS_separate),$(KINDS_$(layer))),paths=./internal/kinds/$(kind)/...) output:rbac:dir=config/layers/$(layer) &&) true
	@$(BIN)/controller-gen rbac:roleName=opcrew-machineconfig paths=./internal/kinds/machineconfig/... output:rbac:dir=config/machineconfig

.PHONY: rights
rights: need-go ## Write docs/rights.md, the table of the operator's rights, from the RBAC markers of the kinds.
	@go run ./hack/rights table > docs/rights.md.tmp && mv docs/rights.md.tmp docs/rights.md || { rm -f docs/rights.md.tmp; exit 1; }

.PHONY: run
run: build $(if $(filter opcrew.invalid/opcrew:dev opcrew/opcrew:dev,$(IMG)),agent backup) local ## Run all kinds in one process outside the current cluster (make install first; RUN_FLAGS for opcrew's flags).
	@flags="$$($(IMAGES) prepare)" && exec $(BIN)/opcrew --metrics-bind-address=0 --health-probe-bind-address=0 $$flags $(RUN_FLAGS)

.PHONY: e2e
e2e: need-root ## Run the end-to-end tests on the local cluster (make up first).
	go test -tags e2e -p 1 -count 1 -timeout 150m -v ./test/e2e/...

.PHONY: e2e-smoke
e2e-smoke: need-root ## Run the short end-to-end test of each kind on the local cluster (make up first).
	go test -tags e2e -p 1 -count 1 -timeout 20m -v -run Smoke ./test/e2e/...

.PHONY: e2e-machines
e2e-machines: need-root ## Test MachineConfig and firewalls on hosts with systemd on the local cluster (make up SYSTEMD=1 first; 30 minutes).
	go test -tags e2e,machines -count 1 -timeout 60m -v -run 'MachineConfigs|AConfigurationThat|APoolOfThree|ANodeThat(IsLost|JoinsDuring|TwoPools)|AHostThatLoses|ACanary|InTheFirewallOfTheHost' ./test/e2e

.PHONY: e2e-gateway
e2e-gateway: need-root $(BIN)/traefik ## Test host names with a real Ingress and Gateway on the local cluster (make up first; builds Traefik, 5 minutes the first time).
	go test -tags e2e,gateway -count 1 -timeout 30m -v -run RealIngressAndGateway ./test/e2e

$(BIN)/traefik: test/e2e/traefik/go.mod
	cd test/e2e/traefik && GOWORK=off go build -ldflags "-s -w" -o $@ github.com/traefik/traefik/v3/cmd/traefik

$(BIN)/versitygw: test/e2e/versitygw/go.mod
	cd test/e2e/versitygw && GOWORK=off go build -ldflags "-s -w" -o $@ github.com/versity/versitygw/cmd/versitygw

.PHONY: test-systemd
test-systemd: need-root need-go packages ## Test nodes with systemd without a cluster: start, reboot, power off, and that nothing is left (root; builds a Debian system the first time).
	cd hack/localcluster && go test -tags systemd -count 1 -timeout 30m -v -run Systemd ./node

.PHONY: faults
faults: need-go kube $(BIN)/kwok ## Test every kind with every fault at every request (takes hours, in parts of at most 30 minutes; PARTS= selects parts).
	@hack/faults run $(PARTS)

.PHONY: faults-report
faults-report: ## Show which parts of make faults passed on which commit.
	@hack/faults report

.PHONY: faults-sample
faults-sample: need-go kube $(BIN)/kwok ## Test each kind for a minute with a sample of the faults (FAULTS= selects another sample).
	go test -tags faults -count 1 -timeout 60m -v ./test/faults -args $(FAULTS)

.PHONY: fuzz
fuzz: need-go ## Fuzz every parser of data from stores, pods and annotations, a minute each (FUZZTIME= and FUZZPROCS= set time and workers, FUZZ= selects fuzz tests).
	@hack/fuzz

.PHONY: bench
bench: need-go kube $(BIN)/kwok $(BIN)/redis-server $(BIN)/redis-cli ## Measure requests and times of the kinds, compared with a naive controller and a plain client (about 20 minutes; 5 with BENCH=).
	go test -tags bench -count 1 -timeout 60m -v ./test/bench -args $(BENCH)
	go test -tags bench -count 1 -timeout 10m -v ./test/bench/authproxy
	go test -tags bench -count 1 -timeout 30m -v ./test/bench/rediscluster
	@if $(LOCAL) status >/dev/null 2>&1; then $(MAKE) bench-cluster; else \
		echo "NOT MEASURED: scaling with volumes, because no local cluster runs (make up, then make bench-cluster)"; fi

.PHONY: bench-cluster
bench-cluster: need-root ## Time the scaling of Redis clusters with volumes, compared with redis-cli and valkey-cli (make up first; 10 minutes).
	go test -tags e2e -count 1 -timeout 60m -v -run TestTimesOfScalingARedisCluster ./test/e2e -args $(BENCH_CLUSTER)

.PHONY: lint
lint: $(BIN)/golangci-lint ## Run the linters.
	$(BIN)/golangci-lint run ./... ./api/...
	cd hack/localcluster && $(BIN)/golangci-lint run --config ../../.golangci.yml ./...

# URL of the database of known vulnerabilities. Set GOVULNDB to use a copy.
GOVULNDB ?= https://vuln.go.dev

.PHONY: vulnerabilities
vulnerabilities: need-go ## Look for known vulnerabilities in the code, if the vulnerability database of the Go project can be reached.
	@if ! curl -sSf -m 5 -o /dev/null $(GOVULNDB)/index/db.json 2>/dev/null; then \
		echo "NOT CHECKED: known vulnerabilities, because $(GOVULNDB) cannot be reached"; exit 0; fi; \
		$(MAKE) $(BIN)/govulncheck && $(BIN)/govulncheck -db $(GOVULNDB) ./... ./api/... && \
		cd hack/localcluster && $(BIN)/govulncheck -db $(GOVULNDB) ./...

.PHONY: fields
fields: need-go kube $(BIN)/kwok ## Edit every field of live objects on a real API server and check the documented effect (10 minutes).
	go test -vet=off -tags fields -count 1 -timeout 30m -v ./test/fields

.PHONY: attack
attack: need-go kube $(BIN)/kwok ## Attack opcrew as a tenant, on a real API server, with and without each defence (3 minutes).
	go test -tags attack -count 1 -timeout 15m ./test/attack

.PHONY: field-tables
field-tables: need-go ## Write the field tables from test/fields/rows into the documentation pages of the kinds.
	@out="$$(go test -vet=off -count 1 ./test/fields/table -run ThePagesShowTheTables -update 2>&1)" || { echo "$$out"; exit 1; }

.PHONY: verify
verify: generate manifests rights field-tables build-installer lint vulnerabilities ## Run the linters and vet, and check that all generated files are committed.
	go vet -tags e2e,gateway,machines,bench,faults,fields,attack ./... ./api/... ./applyconfigurations/...
	cd hack/localcluster && go vet -tags systemd ./...
	cd test/consumer && GOWORK=off go test ./...
	@go run ./hack/figures -imports
	@go run ./hack/figures -check
	@go work sync
	@dirty="$$(git status --porcelain -- $(GENERATED))" || exit 1; if [ -n "$$dirty" ]; then \
		echo "these generated files differ from the committed ones; commit them (make generate manifests rights field-tables build-installer and go work sync wrote them):"; \
		echo "$$dirty"; git --no-pager diff --stat -- $(GENERATED); exit 1; fi

# The files that list module versions. All modules in go.work are built with the same versions.
MODULES := $(foreach dir,. api applyconfigurations hack/localcluster,$(dir)/go.mod $(dir)/go.sum) go.work go.work.sum
# Paths in which `make verify` looks for generated files that were changed but not committed.
GENERATED := api applyconfigurations config dist docs $(MODULES)

##@ Image and installation

.PHONY: docker-build
docker-build: check-images build agent backup ## Build the images IMG, AGENT_IMG and BACKUP_IMG (without a daemon) and save them as bin/opcrew*.tar.
	@$(IMAGES) build

.PHONY: docker-push
docker-push: local ## Push the images to their registries and write bin/install.yaml with their digests; the default images go to the local cluster.
	@$(IMAGES) push --to '$(PUSH)' --manifests dist/install.yaml --install bin/install.yaml

.PHONY: install
install: generated $(KUBECTL) ## Install the CRDs, admission policies and namespaces that make run needs into the current cluster.
	$(KUBECTL) apply --server-side -k config/install

.PHONY: uninstall
uninstall: $(KUBECTL) ## Delete all objects of the kinds, for which an operator must run, and then what make install installed.
	@KUBECTL=$(KUBECTL) hack/uninstall.sh

.PHONY: install-machineconfig
install-machineconfig: generated $(KUBECTL) ## Install MachineConfig and MachineConfigPool into the current cluster, unless it has the CRDs of OpenShift.
	@KUBECTL=$(KUBECTL) hack/machineconfig.sh install

.PHONY: uninstall-machineconfig
uninstall-machineconfig: $(KUBECTL) ## Delete what make install-machineconfig installed, unless MachineConfigPools exist.
	@KUBECTL=$(KUBECTL) hack/machineconfig.sh uninstall

.PHONY: deploy
deploy: generated local $(KUBECTL) ## Deploy the operator (IMG) into the current cluster, with everything that make install installs (NAMESPACES=a,b limits it to these namespaces).
	@$(KUBECTL) kustomize config/default | $(IMAGES) manifests | $(NARROW) | $(KUBECTL) apply --server-side --force-conflicts -f - >/dev/null
	@for layer in $(LAYERS); do $(KUBECTL) -n opcrew-system rollout status deployment/opcrew-$$layer --timeout 180s || exit 1; done

.PHONY: undeploy
undeploy: uninstall ## Delete all objects of the kinds, and then the operator.
	$(KUBECTL) delete --ignore-not-found -k config/default
	$(KUBECTL) delete --all-namespaces role,rolebinding -l app.kubernetes.io/part-of=opcrew

# Writes the objects of a folder into a file. Arguments: the folder; the file.
manifest = $(KUBECTL) kustomize $(1) > $(2).tmp && mv $(2).tmp $(2) || { rm -f $(2).tmp; exit 1; }

.PHONY: build-installer
build-installer: generated local $(KUBECTL) ## Write dist/install.yaml with the default image names, and dist/machineconfig.yaml; if IMG is set, also write bin/install.yaml with your image names.
	@mkdir -p dist
	@$(call manifest,config/default,dist/install.yaml)
	@$(call manifest,config/machineconfig,dist/machineconfig.yaml)
	@$(if $(filter file,$(origin IMG)),true,$(IMAGES) manifests < dist/install.yaml > $(BIN)/install.yaml)

##@ Local cluster

.PHONY: local-deploy
local-deploy: build agent backup local
	@tag=opcrew.invalid/opcrew:dev-$$(sha256sum $(BIN)/opcrew | cut -c1-12) && \
		agent=opcrew.invalid/opcrew-agent:dev-$$(cat $(BIN)/opcrew-agent $(BIN)/opcrew-machine | sha256sum | cut -c1-12) && \
		backup=opcrew.invalid/opcrew-backup:dev-$$(sha256sum $(BIN)/opcrew-backup | cut -c1-12) && \
		$(MAKE) docker-build docker-push deploy IMG=$$tag AGENT_IMG=$$agent BACKUP_IMG=$$backup

# Images of the samples. `make up` builds them while it compiles Kubernetes, so that the cluster's registry already has
# them.
SAMPLE_IMAGES := busybox diva diva-client diva-extra memcached nginx valkey9 etcd-3.6

.PHONY: sample-images
sample-images: local
	@for image in $(SAMPLE_IMAGES); do $(LOCAL) image make $$image >/dev/null || exit 1; done

.PHONY: samples
samples: $(KUBECTL) policies-in-force ## Apply the samples in config/samples to the local cluster, whose registry builds their images.
	@$(KUBECTL) apply -f config/samples >/dev/null
	@$(KUBECTL) wait --for=condition=Ready -f config/samples/activity.yaml --timeout 60s >/dev/null && \
		$(KUBECTL) wait --for=condition=Ready nodepools/test nodepools/master --timeout 60s >/dev/null || \
		echo "some samples that need no image are not ready yet; the table below says why"

# The API server may enforce a new policy only after ten seconds, so wait. The operator refuses Activities that users
# created earlier.
.PHONY: policies-in-force
policies-in-force: $(KUBECTL)
	@since="$$($(KUBECTL) get validatingadmissionpolicy opcrew-activity-rights -o jsonpath='{.metadata.creationTimestamp}')" && \
		left=$$(($$(date -d "$$since" +%s) + 11 - $$(date +%s))) && { [ $$left -le 0 ] || sleep $$left; }

.PHONY: table
table: $(KUBECTL) ## Show the state of the samples, and what to try next.
	@echo; $(KUBECTL) get nodes; echo
	@$(KUBECTL) get -f config/samples --ignore-not-found -o custom-columns='KIND:.kind,NAME:.metadata.name,NAMESPACE:.metadata.namespace,READY:.status.conditions[?(@.type=="Ready")].status,MESSAGE:.status.conditions[?(@.type=="Ready")].message' | grep -vE '^(Namespace|PersistentVolumeClaim|Deployment) '; echo
	@$(KUBECTL) -n opcrew-system get deployments; echo
	@cat config/samples/next.txt

# Targets that other targets use.
.PHONY: need-root need-go packages modules std binaries kube local check-images redis-root generated
need-root:
	@[ "$$(uname -s)" = Linux ] || { echo "this target needs Linux, because the local cluster's nodes are made of Linux namespaces"; exit 1; }
	@[ "$$(id -u)" = 0 ] || { echo "this target needs root, because the local cluster's nodes are made of Linux namespaces; run it with sudo"; exit 1; }

need-go:
	@command -v go >/dev/null || { echo "go is missing: install Go $$(sed -n 's/^go //p' go.work) or newer"; exit 1; }

packages:
	@missing="$$(for p in $(PACKAGES); do [ "$$(dpkg-query -W -f '$${Status}' $$p 2>/dev/null)" = "install ok installed" ] || echo -n "$$p "; done)"; \
	if [ -n "$$missing" ]; then echo "installing $$missing"; \
		apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $$missing >/dev/null; fi

# The programs of the local cluster. One build compiles shared packages once, and links some programs while it compiles
# others. The provisioner needs a separate build, because it writes a module's path in another letter case.
PROGRAMS := ./hack/localcluster/cmd/kube ./hack/localcluster/cmd/addons ./cmd/opcrew ./cmd/opcrew-backup ./cmd/opcrew-agent ./cmd/opcrew-machine
PROVISIONER := github.com/rancher/local-path-provisioner

binaries:
	@$(GO_BUILD) -o $(BIN)/ $(PROGRAMS)
	@ln -sf kube $(KUBECTL)
	@$(GO_BUILD) -o $(BIN)/ $(PROVISIONER)

modules:
	@go list -deps ./hack/localcluster $(PROGRAMS) > $(BIN)/packages
	@go list -deps $(PROVISIONER) > /dev/null

# `make up` compiles the standard library while it downloads modules, because the standard library needs no download.
std:
	@GOGC=400 go build std

kube: $(BIN)/kube $(KUBECTL)

$(BIN)/kube: go.work hack/localcluster/go.mod $(wildcard hack/localcluster/cmd/kube/*.go)
	@echo "building Kubernetes $(KUBERNETES_VERSION) (about 5 minutes, once)"
	@$(GO_BUILD) -o $@ ./hack/localcluster/cmd/kube

# redis-server for tests and redis-cli for benchmarks, with their libraries, from the local cluster's image of Redis.
# Without apt, create these two links yourself; version 7.0 or later works.
$(BIN)/redis-server $(BIN)/redis-cli:
	@[ -x $(BIN)/redis/usr/bin/$(@F) ] || $(MAKE) redis-root
	@printf '#!/bin/sh\nroot="$$(dirname "$$(readlink -f "$$0")")/redis"\nexec "$$root"/lib*/ld-linux-* --library-path "$$(echo "$$root"/usr/lib/*-linux-gnu)" "$$root/usr/bin/$(@F)" "$$@"\n' > $@ && chmod +x $@
$(BIN)/redis-cli: | $(BIN)/redis-server

redis-root: local
	@tar="$$($(LOCAL) image build-debian redis)" && rm -rf $(BIN)/redis && mkdir -p $(BIN)/redis && \
		tar -xOf "$${tar##* }" --wildcards '*.tar.gz' | tar -xz -C $(BIN)/redis

$(KUBECTL): | $(BIN)/kube
	@ln -sf kube $@

local:
	@$(GO_BUILD) -o $(LOCAL) ./hack/localcluster

check-images: local
	@$(IMAGES) build --check

$(BIN)/pause: hack/localcluster/cmd/pause/main.go
	@$(GO_BUILD) -o $@ ./hack/localcluster/cmd/pause

# Generated files are committed. Therefore this target generates them only if their sources have uncommitted changes.
generated:
	@edited="$$(git status --porcelain -- api internal/kit internal/kinds 2>&1)" && [ -z "$$edited" ] || $(MAKE) generate manifests

# hack/step shows the time and the progress of each step of `make up`. It needs no modules, so make can build it before
# the first step.
$(BIN)/step: $(wildcard hack/step/*.go)
	@GOWORK=off go build -ldflags "-s -w" -o $@ ./hack/step

# Each tool is installed under a name with its version, and linked. So a new version is a new file, and make installs
# it.
define tool
$(BIN)/$(1): $(BIN)/$(1)-$(3)
	@ln -sf $(1)-$(3) $$@
$(BIN)/$(1)-$(3):
	@echo "building $(1) $(3)"
	@mkdir -p $(BIN)/tmp && GOFLAGS="$(BUILD_FLAGS)" GOBIN=$(BIN)/tmp GOGC=400 go install -ldflags "-s -w" $(2)@$(3) 2>$(BIN)/tmp/$(1).log || \
		{ cat $(BIN)/tmp/$(1).log; exit 1; }
	@mv $(BIN)/tmp/$(1) $$@
endef
$(eval $(call tool,controller-gen,sigs.k8s.io/controller-tools/cmd/controller-gen,$(CONTROLLER_GEN_VERSION)))
$(eval $(call tool,kwok,sigs.k8s.io/kwok/cmd/kwok,$(KWOK_VERSION)))
$(eval $(call tool,govulncheck,golang.org/x/vuln/cmd/govulncheck,$(GOVULNCHECK_VERSION)))
$(eval $(call tool,golangci-lint,github.com/golangci/golangci-lint/v2/cmd/golangci-lint,$(GOLANGCI_LINT_VERSION)))

# Builds `make bin/NAME`, which error messages suggest.
bin/%: $(BIN)/% ;
