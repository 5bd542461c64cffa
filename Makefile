# opcrew: a crew of Kubernetes operators in one Go binary. `make` lists the targets.

SHELL := /bin/bash -o pipefail
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

# Image of the operator. A registry may stand before the name.
IMG ?= opcrew/opcrew:dev
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
# Image of the in-pod helper: beside the operator's, with the same tag.
HELPER_IMG ?= $(subst /opcrew:,/opcrew-helper:,$(IMG))
# Image of what saves and restores etcd, likewise.
BACKUP_IMG ?= $(subst /opcrew:,/opcrew-backup:,$(IMG))
# What puts the images into the manifests.
IMAGES := sed 's|image: opcrew/opcrew:dev|image: $(IMG)|; s|opcrew/opcrew-helper:dev|$(HELPER_IMG)|; s|opcrew/opcrew-backup:dev|$(BACKUP_IMG)|'
NODES ?= 3
# What `make faults` runs: every case; with FAULTS= a sample that a seed chooses.
FAULTS ?= -faults.exhaustive
# What `make bench` runs: the sizes that docs/benchmarks.md shows; with BENCH= small ones.
BENCH ?= -nodes 5000 -pools 50 -objects 1000

BIN := $(CURDIR)/bin
LOCAL := $(BIN)/localcluster
LOCAL_KUBECONFIG := $(BIN)/kubeconfig
KUBECONFIG ?= $(if $(wildcard $(LOCAL_KUBECONFIG)),$(LOCAL_KUBECONFIG),$(HOME)/.kube/config)
export KUBECONFIG
KUBECTL := $(BIN)/kubectl

# The layers and their kinds; the roles of each are generated from the markers in these packages.
LAYERS := machines applications data
KINDS_machines := nodepool activity
KINDS_applications := appservice microservicedeploy diva
KINDS_data := memcached etcdcluster etcdbackup etcdrestore redisenterprisecluster

# Versions of what is built from other modules. Kubernetes' own is in hack/localcluster/go.mod.
CONTROLLER_GEN_VERSION := v0.23.0
KWOK_VERSION := v0.8.0
GOLANGCI_LINT_VERSION := v2.15.0
KUBERNETES_VERSION := $(shell sed -n 's/^\tk8s.io\/kubernetes \(v[0-9.]*\).*/\1/p' hack/localcluster/go.mod)
KUBE_LDFLAGS := -s -w \
	-X k8s.io/component-base/version.gitVersion=$(KUBERNETES_VERSION) \
	-X k8s.io/component-base/version.gitMajor=$(word 1,$(subst ., ,$(KUBERNETES_VERSION:v%=%))) \
	-X k8s.io/component-base/version.gitMinor=$(word 2,$(subst ., ,$(KUBERNETES_VERSION:v%=%))) \
	-X k8s.io/client-go/pkg/version.gitVersion=$(KUBERNETES_VERSION)

# Debian packages that the local cluster's nodes are made of.
PACKAGES := containerd runc containernetworking-plugins iptables conntrack iproute2 procps

##@ Start here

.PHONY: help
help: ## List the targets.
	@awk 'BEGIN {FS = ":.*## "} /^##@/ {printf "\n%s\n", substr($$0, 5)} /^[a-zA-Z_0-9-]+:.*## / {printf "  %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: up
up: need-root need-go packages kube $(BIN)/pause local addons ## A local cluster with the operator and the samples in it (root; 15 to 25 minutes the first time).
	@$(LOCAL) up --nodes $(NODES) --kubeconfig-out $(LOCAL_KUBECONFIG)
	@$(MAKE) local-deploy samples table KUBECONFIG=$(LOCAL_KUBECONFIG)

.PHONY: down
down: need-root local ## Remove the local cluster and all that it made on this machine.
	@$(LOCAL) down

.PHONY: test
test: need-go kube $(BIN)/kwok $(BIN)/redis-server ## All tests that need no root: unit tests, and integration tests on a real API server.
	go test -p 2 -timeout 15m ./...
	cd hack/localcluster && go test ./...

##@ Development

.PHONY: build
build: generate ## Build the operator: bin/opcrew.
	CGO_ENABLED=0 go build -buildvcs=false -trimpath -ldflags "-s -w -X main.version=$(VERSION)" -o $(BIN)/opcrew ./cmd/opcrew

.PHONY: helper
helper: ## Build what runs inside of users' pods: bin/opcrew-helper.
	CGO_ENABLED=0 go build -buildvcs=false -trimpath -ldflags "-s -w -X main.version=$(VERSION)" -o $(BIN)/opcrew-helper ./cmd/opcrew-helper

.PHONY: backup
backup: ## Build what saves and restores snapshots of etcd: bin/opcrew-backup.
	CGO_ENABLED=0 go build -buildvcs=false -trimpath -ldflags "-s -w -X main.version=$(VERSION)" -o $(BIN)/opcrew-backup ./cmd/opcrew-backup

.PHONY: generate
generate: $(BIN)/controller-gen ## Generate DeepCopy methods.
	@$(BIN)/controller-gen object:headerFile=hack/boilerplate.go.txt paths=./api/...

.PHONY: manifests
manifests: $(BIN)/controller-gen ## Generate CRDs and the roles of the layers.
	@$(BIN)/controller-gen crd paths=./api/... output:crd:artifacts:config=config/crd/bases
	@$(foreach layer,$(LAYERS),$(BIN)/controller-gen rbac:roleName=opcrew paths=./internal/kit \
		$(foreach kind,$(KINDS_$(layer)),paths=./internal/kinds/$(kind)/...) output:rbac:dir=config/layers/$(layer) &&) true

.PHONY: run
run: build $(KUBECTL) ## Run all kinds in one process against the current cluster (make install first).
	$(BIN)/opcrew --metrics-bind-address=0 --health-probe-bind-address=0

.PHONY: e2e
e2e: need-root ## Scenarios on the local cluster (make up first): real nodes, pods and faults.
	go test -tags e2e -p 1 -count 1 -timeout 150m -v ./test/e2e/...

.PHONY: e2e-smoke
e2e-smoke: need-root ## The short scenario of each kind on the local cluster (make up first).
	go test -tags e2e -p 1 -count 1 -timeout 20m -v -run Smoke ./test/e2e/...

.PHONY: e2e-gateway
e2e-gateway: need-root $(BIN)/traefik ## Host names behind a real Ingress and Gateway on the local cluster (make up first; builds Traefik, 5 minutes the first time).
	go test -tags e2e,gateway -count 1 -timeout 30m -v -run RealIngressAndGateway ./test/e2e

$(BIN)/traefik: test/e2e/traefik/go.mod
	cd test/e2e/traefik && CGO_ENABLED=0 go build -trimpath -ldflags "-s -w" -o $@ github.com/traefik/traefik/v3/cmd/traefik

$(BIN)/versitygw: test/e2e/versitygw/go.mod
	cd test/e2e/versitygw && CGO_ENABLED=0 go build -buildvcs=false -trimpath -ldflags "-s -w" -o $@ github.com/versity/versitygw/cmd/versitygw

.PHONY: faults
faults: need-go kube $(BIN)/kwok ## Attack the kinds with every fault at every place (an hour or more; FAULTS= for a sample).
	go test -tags faults -count 1 -timeout 180m -v ./test/faults -args $(FAULTS)

.PHONY: bench
bench: need-go kube $(BIN)/kwok $(BIN)/redis-server $(BIN)/redis-cli ## Count and time the kinds beside a naive controller and a bare client (about 20 minutes; BENCH= for 5).
	go test -tags bench -count 1 -timeout 60m -v ./test/bench -args $(BENCH)
	go test -tags bench -count 1 -timeout 10m -v ./test/bench/authproxy
	go test -tags bench -count 1 -timeout 30m -v ./test/bench/rediscluster

.PHONY: lint
lint: $(BIN)/golangci-lint ## Run the linters.
	$(BIN)/golangci-lint run ./...
	cd hack/localcluster && $(BIN)/golangci-lint run --config ../../.golangci.yml ./...

.PHONY: verify
verify: generate manifests build-installer lint ## Check that generated files are committed, and lint and vet.
	go vet -tags e2e,gateway,bench,faults ./...
	cd hack/localcluster && go vet ./...
	@dirty="$$(git status --porcelain -- api config dist)" || exit 1; if [ -n "$$dirty" ]; then \
		echo "generated files differ from what is committed; commit what make generate manifests build-installer made:"; \
		echo "$$dirty"; git --no-pager diff --stat -- api config dist; exit 1; fi

##@ Image and installation

.PHONY: docker-build
docker-build: build helper backup local ## Make the images IMG, HELPER_IMG and BACKUP_IMG (without a daemon) and save them as bin/opcrew*.tar.
	@$(LOCAL) image build --tag $(IMG) --binary $(BIN)/opcrew=/opcrew --entrypoint /opcrew --user 65532:65532 \
		--ca-certificates --output $(BIN)/opcrew.tar
	@$(LOCAL) image build --tag $(HELPER_IMG) --binary $(BIN)/opcrew-helper=/opcrew-helper --entrypoint /opcrew-helper --user 65532:65532 \
		--output $(BIN)/opcrew-helper.tar
	@$(LOCAL) image build --tag $(BACKUP_IMG) --binary $(BIN)/opcrew-backup=/opcrew-backup --entrypoint /opcrew-backup --user 65532:65532 \
		--ca-certificates --output $(BIN)/opcrew-backup.tar
	@echo "image $(IMG) is in bin/opcrew.tar, $(HELPER_IMG) in bin/opcrew-helper.tar, $(BACKUP_IMG) in bin/opcrew-backup.tar"

.PHONY: docker-push
docker-push: local ## Push the images to the registries in their names; without one, load them into the local cluster.
	@$(LOCAL) image push --tag $(IMG) $(BIN)/opcrew.tar
	@$(LOCAL) image push --tag $(HELPER_IMG) $(BIN)/opcrew-helper.tar
	@$(LOCAL) image push --tag $(BACKUP_IMG) $(BIN)/opcrew-backup.tar

.PHONY: install
install: manifests $(KUBECTL) ## Install the CRDs into the current cluster.
	$(KUBECTL) apply --server-side -k config/crd

.PHONY: uninstall
uninstall: $(KUBECTL) ## Delete the CRDs and all objects of their kinds; the operator must be running to clean up after them.
	$(KUBECTL) delete --ignore-not-found -k config/crd

.PHONY: deploy
deploy: manifests $(KUBECTL) ## Deploy the operator (IMG) into the current cluster.
	@$(KUBECTL) kustomize config/default | $(IMAGES) | $(KUBECTL) apply --server-side --force-conflicts -f - >/dev/null
	@for layer in $(LAYERS); do $(KUBECTL) -n opcrew-system rollout status deployment/opcrew-$$layer --timeout 180s || exit 1; done

.PHONY: undeploy
undeploy: uninstall ## Remove the operator and, before it, all objects of its kinds.
	$(KUBECTL) delete --ignore-not-found -k config/default

.PHONY: build-installer
build-installer: manifests $(KUBECTL) ## Write dist/install.yaml, which installs everything.
	@mkdir -p dist
	@$(KUBECTL) kustomize config/default | $(IMAGES) > dist/install.yaml

##@ Local cluster

.PHONY: local-deploy
local-deploy: build helper backup local
	@tag=opcrew/opcrew:dev-$$(sha256sum $(BIN)/opcrew | cut -c1-12) && \
		helper=opcrew/opcrew-helper:dev-$$(sha256sum $(BIN)/opcrew-helper | cut -c1-12) && \
		backup=opcrew/opcrew-backup:dev-$$(sha256sum $(BIN)/opcrew-backup | cut -c1-12) && \
		$(MAKE) docker-build docker-push deploy IMG=$$tag HELPER_IMG=$$helper BACKUP_IMG=$$backup

.PHONY: samples
samples: $(KUBECTL) local ## Apply the samples to the local cluster: a pool for node2 and one for node3, a pod in each, an application and a cache.
	@for image in memcached nginx redis redis8 valkey; do tar="$$($(LOCAL) image build-debian $$image)" && $(LOCAL) image load "$${tar##* }" >/dev/null || exit 1; done
	@$(KUBECTL) label node node2 node-role.kubernetes.io/test= --overwrite >/dev/null
	@$(KUBECTL) label node node3 node-role.kubernetes.io/master= --overwrite >/dev/null
	@$(KUBECTL) apply --server-side -f config/samples/nodepools.yaml >/dev/null
	@$(KUBECTL) wait --for=condition=Ready nodepools/test nodepools/master --timeout 60s >/dev/null || echo "not every sample pool is ready; the table says why"
	@$(KUBECTL) apply --server-side -f config/samples/pods.yaml -f config/samples/appservice.yaml -f config/samples/memcached.yaml >/dev/null
	@$(KUBECTL) wait --for=condition=Ready pods -l app.kubernetes.io/part-of=opcrew-samples --timeout 120s >/dev/null || echo "not every sample pod is ready"
	@$(KUBECTL) wait --for=condition=Ready appservice/nginx-app --timeout 120s >/dev/null || echo "the sample application is not ready; the table says why"
	@$(KUBECTL) wait --for=condition=Ready memcached/example-memcached --timeout 120s >/dev/null || echo "the sample cache is not ready; the table says why"

.PHONY: table
table: $(KUBECTL) ## Show what the samples became, and what to try next.
	@echo; $(KUBECTL) get nodes; echo; $(KUBECTL) get nodepools,runtimeclasses; echo
	@$(KUBECTL) get pods -l app.kubernetes.io/part-of=opcrew-samples -o wide; echo
	@$(KUBECTL) get appservices -o wide; echo
	@$(KUBECTL) get memcacheds -o wide; echo
	@$(KUBECTL) -n opcrew-system get deployments; echo
	@cat config/samples/next.txt

# Parts.
.PHONY: need-root need-go packages kube local redis-root addons
need-root:
	@[ "$$(uname -s)" = Linux ] || { echo "this needs Linux: the local cluster's nodes are made of its namespaces"; exit 1; }
	@[ "$$(id -u)" = 0 ] || { echo "this needs root: the local cluster's nodes are made of namespaces; run it with sudo"; exit 1; }

need-go:
	@command -v go >/dev/null || { echo "go is missing: install Go $$(sed -n 's/^go //p' go.mod) or newer"; exit 1; }

packages:
	@missing="$$(for p in $(PACKAGES); do [ "$$(dpkg-query -W -f '$${Status}' $$p 2>/dev/null)" = "install ok installed" ] || echo -n "$$p "; done)"; \
	if [ -n "$$missing" ]; then echo "installing $$missing"; \
		apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $$missing >/dev/null; fi

kube: $(BIN)/kube $(KUBECTL)

$(BIN)/kube: hack/localcluster/go.mod $(wildcard hack/localcluster/cmd/kube/*.go)
	@echo "building Kubernetes $(KUBERNETES_VERSION) (about 5 minutes, once)"
	@cd hack/localcluster && CGO_ENABLED=0 go build -buildvcs=false -trimpath -ldflags "$(KUBE_LDFLAGS)" -o $@ ./cmd/kube

# The server that tests of Redis run, and the tool beside which it is timed, out of the image of both, with the libraries
# that they were built for. Where there is no apt, link those of version 7.0 or later.
$(BIN)/redis-server $(BIN)/redis-cli:
	@[ -x $(BIN)/redis/usr/bin/$(@F) ] || $(MAKE) redis-root
	@printf '#!/bin/sh\nroot="$$(dirname "$$(readlink -f "$$0")")/redis"\nexec "$$root"/lib*/ld-linux-* --library-path "$$(echo "$$root"/usr/lib/*-linux-gnu)" "$$root/usr/bin/$(@F)" "$$@"\n' > $@ && chmod +x $@
$(BIN)/redis-cli: | $(BIN)/redis-server

redis-root: local
	@tar="$$($(LOCAL) image build-debian redis)" && rm -rf $(BIN)/redis && mkdir -p $(BIN)/redis && \
		tar -xOf "$${tar##* }" --wildcards '*.tar.gz' | tar -xz -C $(BIN)/redis

$(KUBECTL): $(BIN)/kube
	@ln -sf kube $@

local:
	@cd hack/localcluster && CGO_ENABLED=0 go build -buildvcs=false -trimpath -ldflags "-s -w" -o $(LOCAL) .

$(BIN)/pause: hack/localcluster/cmd/pause/main.go
	@cd hack/localcluster && CGO_ENABLED=0 go build -buildvcs=false -trimpath -ldflags "-s -w" -o $@ ./cmd/pause

addons: local
	@$(LOCAL) addons build -o $(BIN)

# Tools are installed under their version and linked, so that a new version is a new file.
define tool
$(BIN)/$(1): $(BIN)/$(1)-$(3)
	@ln -sf $(1)-$(3) $$@
$(BIN)/$(1)-$(3):
	@echo "building $(1) $(3)"
	@mkdir -p $(BIN)/tmp && GOFLAGS= GOBIN=$(BIN)/tmp CGO_ENABLED=0 go install -trimpath -ldflags "-s -w" $(2)@$(3) 2>$(BIN)/tmp/$(1).log || \
		{ cat $(BIN)/tmp/$(1).log; exit 1; }
	@mv $(BIN)/tmp/$(1) $$@
endef
$(eval $(call tool,controller-gen,sigs.k8s.io/controller-tools/cmd/controller-gen,$(CONTROLLER_GEN_VERSION)))
$(eval $(call tool,kwok,sigs.k8s.io/kwok/cmd/kwok,$(KWOK_VERSION)))
$(eval $(call tool,golangci-lint,github.com/golangci/golangci-lint/v2/cmd/golangci-lint,$(GOLANGCI_LINT_VERSION)))

# `make bin/kube` and the like, as messages name them.
bin/%: $(BIN)/% ;
