#!/usr/bin/env bash
# Copyright The opcrew Authors.
# SPDX-License-Identifier: Apache-2.0
#
# Installs or uninstalls MachineConfig and MachineConfigPool in the current cluster. Both refuse to touch the CRDs of
# OpenShift, which have the same names.
set -euo pipefail
cd "$(dirname "$0")/.."
kubectl=${KUBECTL:-kubectl}
pools=machineconfigpools.machineconfiguration.openshift.io

# The CRDs that opcrew did not install.
others=$("$kubectl" get customresourcedefinitions -l 'app.kubernetes.io/part-of!=opcrew' -o name)
others=$(grep -E '/machineconfig(pool)?s[.]machineconfiguration[.]openshift[.]io$' <<<"$others" || true)
if [ -n "$others" ]; then
  echo "this cluster has CRDs of OpenShift's Machine Config Operator, or of another product, which opcrew must not change:"
  echo "$others"
  echo "nothing was changed; use MachineConfig of opcrew only in clusters without these CRDs"
  exit 1
fi

case ${1:-} in
install)
  "$kubectl" apply --server-side -k config/machineconfig
  ;;
uninstall)
  left=$("$kubectl" get "$pools" --ignore-not-found -o name 2>/dev/null || true)
  if [ -n "$left" ]; then
    echo "MachineConfigPools exist, and hosts have their configurations:"
    echo "$left"
    echo "nothing was deleted; to restore the hosts, delete the MachineConfigs, wait until the pools are Updated, and then delete the pools (docs/machineconfig.md)"
    exit 1
  fi
  "$kubectl" delete --ignore-not-found -k config/machineconfig
  ;;
*)
  echo "usage: hack/machineconfig.sh install|uninstall"
  exit 1
  ;;
esac
