#!/usr/bin/env bash
# Copyright The opcrew Authors.
# SPDX-License-Identifier: Apache-2.0
#
# Removes what make install installed: first all objects of opcrew's kinds, while an operator runs and
# handles their finalizers, then the CRDs and the rest. A deployed operator stays.
set -euo pipefail
cd "$(dirname "$0")/.."
kubectl=${KUBECTL:-kubectl}
namespace=opcrew-system
part_of=app.kubernetes.io/part-of=opcrew

# held lists the objects with finalizers, which only an operator removes.
held() {
  local crd
  for crd in $("$kubectl" get customresourcedefinitions -l "$part_of" -o name); do
    "$kubectl" get "${crd#*/}" --all-namespaces --ignore-not-found -o \
      go-template='{{range .items}}{{if .metadata.finalizers}}  {{.kind}} {{with .metadata.namespace}}{{.}}/{{end}}{{.metadata.name}}{{"\n"}}{{end}}{{end}}'
  done
}

# renewals are when the processes of the operator renewed their leases last.
renewals() {
  "$kubectl" -n "$namespace" get leases --ignore-not-found -o \
    go-template='{{range .items}}{{if .spec.holderIdentity}}{{.metadata.name}} {{.spec.renewTime}}{{"\n"}}{{end}}{{end}}'
}

# running reports whether an operator renews a lease, which it does every two seconds.
running() {
  local before try
  before=$(renewals)
  for try in 1 2 3 4 5 6; do
    sleep 1
    [ "$(renewals)" = "$before" ] || return 0
  done
  return 1
}

objects=$(held)
if [ -n "$objects" ] && ! running; then
  echo "no operator runs, and these objects need one that cleans up after them:"
  echo "$objects"
  echo "nothing was removed; start an operator (make deploy, or make run in another terminal) and try again"
  exit 1
fi

if ! "$kubectl" delete --ignore-not-found --timeout "${TIMEOUT:-5m}" -k config/crd; then
  echo "not all objects are gone; these wait for the operator, and each says why in its conditions:"
  held
  exit 1
fi
"$kubectl" delete --ignore-not-found -k config/cluster

if [ -n "$("$kubectl" -n "$namespace" get deployments -l "$part_of" -o name)" ]; then
  echo "namespace $namespace stays: an operator is deployed there, which make undeploy removes"
else
  "$kubectl" delete --ignore-not-found -k config/namespace
fi
