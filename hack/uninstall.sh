#!/usr/bin/env bash
# Copyright The opcrew Authors.
# SPDX-License-Identifier: Apache-2.0
#
# Removes what `make install` installed. First it removes all objects of opcrew's kinds, for which an operator must run
# and remove their finalizers. Then it removes the CRDs and all other objects. It does not remove a deployed operator.
set -euo pipefail
cd "$(dirname "$0")/.."
kubectl=${KUBECTL:-kubectl}
namespace=opcrew-system
part_of=app.kubernetes.io/part-of=opcrew

# held lists the objects of opcrew's kinds with finalizers. Only a running operator removes these finalizers.
held() {
  local crd
  for crd in $("$kubectl" get customresourcedefinitions -l "$part_of" -o name); do
    "$kubectl" get "${crd#*/}" --all-namespaces --ignore-not-found -o \
      go-template='{{range .items}}{{if .metadata.finalizers}}  {{.kind}} {{with .metadata.namespace}}{{.}}/{{end}}{{.metadata.name}}{{"\n"}}{{end}}{{end}}'
  done
}

# renewals prints the time at which each process of the operator last renewed its lease.
renewals() {
  "$kubectl" -n "$namespace" get leases --ignore-not-found -o \
    go-template='{{range .items}}{{if .spec.holderIdentity}}{{.metadata.name}} {{.spec.renewTime}}{{"\n"}}{{end}}{{end}}'
}

# running reports whether an operator runs, that is, whether a lease changes. An operator renews its lease every two
# seconds.
running() {
  local before try
  before=$(renewals)
  for try in 1 2 3 4 5 6; do
    sleep 1
    [ "$(renewals)" = "$before" ] || return 0
  done
  return 1
}

if "$kubectl" get customresourcedefinitions -l "$part_of" -o name | grep -q /machineconfigpools; then
  echo "MachineConfig is installed; without an operator its nodes can neither change nor be uncordoned"
  echo "nothing was removed; run make uninstall-machineconfig first"
  exit 1
fi

objects=$(held)
if [ -n "$objects" ] && ! running; then
  echo "no operator runs, but only a running operator can clean up after these objects:"
  echo "$objects"
  echo "nothing was removed; start an operator (make deploy, or make run in another terminal) and try again"
  exit 1
fi

if ! "$kubectl" delete --ignore-not-found --timeout "${TIMEOUT:-5m}" -k config/crd; then
  echo "some objects still exist, because the operator has not finished cleaning up after them; their conditions say why:"
  held
  exit 1
fi
"$kubectl" delete --ignore-not-found -k config/cluster

if [ -n "$("$kubectl" -n "$namespace" get deployments -l "$part_of" -o name)" ]; then
  echo "namespace $namespace was not deleted, because an operator is deployed there; make undeploy removes both"
else
  "$kubectl" delete --ignore-not-found -k config/namespace
fi
