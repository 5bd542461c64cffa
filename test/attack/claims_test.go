// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build attack

package attack

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// claimAttacks returns attacks that try to get the data of volumes that the tenant may not use.
func claimAttacks() []attack {
	from := func(source string) string {
		return etcdWith("pod: {persistentVolumeClaimSpec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}, " + source + "}}")
	}
	snapshot := "{apiGroup: snapshot.storage.k8s.io, kind: VolumeSnapshot, name: ledger}"
	return []attack{
		{name: "etcd on a copy of a claim", source: "OWASP K08", needs: requester, before: ledger,
			manifest: from("dataSource: {kind: PersistentVolumeClaim, name: ledger}"), refused: []string{"dataSource", "ledger"}, harm: copies},
		{name: "etcd on a copy of a claim, by reference", source: "OWASP K08", needs: requester, before: ledger,
			manifest: from("dataSourceRef: {kind: PersistentVolumeClaim, name: ledger}"), refused: []string{"dataSourceRef", "ledger"}, harm: copies},
		{name: "etcd on a copy of a claim of another tenant", source: "OWASP K08, CVE-2022-24348 (Argo CD)", needs: requester,
			manifest: from("dataSourceRef: {kind: PersistentVolumeClaim, name: ledger, namespace: OTHER}"), refused: []string{"dataSourceRef", "ledger", "another-"}, harm: copies, control: copied},
		{name: "etcd on a snapshot", source: "OWASP K08", needs: requester,
			manifest: from("dataSource: " + snapshot), stops: &report{"RequesterMayNot", []string{"volumesnapshots", "ledger"}}, harm: copies},
		{name: "a volume of Redis with a copy of a claim", source: "OWASP K08", needs: requester, before: ledger,
			manifest: redisPod(`volumes: [{name: v, ephemeral: {volumeClaimTemplate: {spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}},
    dataSource: {kind: PersistentVolumeClaim, name: ledger}}}}}]`), stops: &report{"RequesterMayNot", []string{"ledger"}}, harm: aPodMentions("ledger")},
		{name: "the claim of another user under the name of a Redis pod's", source: "OWASP K08", needs: requester,
			before: ledgerNamed("redis-enterprise-storage-cache-0"), manifest: redisPod("persistentSpec: {enabled: true}"),
			stops: &report{"RequesterMayNot", []string{"redis-enterprise-storage-cache-0"}}, harm: mounts("redis-enterprise-storage-cache-0")},
		{name: "the claim of another user under the name of a Diva client's", source: "OWASP K08", needs: requester,
			before: ledgerNamed("wi-ops-client-1"), manifest: system("", ""),
			stops: &report{"RequesterMayNot", []string{"wi-ops-client-1"}}, harm: mounts("wi-ops-client-1")},
	}
}

// ledgerNamed returns a function that creates a claim of another user with the given name.
func ledgerNamed(name string) func(w *world) {
	return func(w *world) {
		w.Helper()
		w.has(`{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: ` + name + `}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}`)
	}
}

// mounts returns a function that reports harm if a pod of the tenant uses the named claim.
func mounts(name string) func(w *world) string {
	return func(w *world) string {
		w.Helper()
		if slices.ContainsFunc(w.podSpecs(w.ns), volumes(func(v corev1.Volume) bool {
			return v.PersistentVolumeClaim != nil && v.PersistentVolumeClaim.ClaimName == name
		})) {
			return "a pod of the tenant uses claim " + name
		}
		return ""
	}
}

// ledger creates a claim in the tenant's namespace that the tenant may not use.
func ledger(w *world) {
	ledgerNamed("ledger")(w)
}

// copied does the harm as an administrator: it creates a claim that copies the data of another claim. The tenant's own
// request would do no harm even without opcrew's defences, because the test's API server ignores references to other
// namespaces.
func copied(w *world) {
	w.has(`{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: copy}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}, dataSource: {kind: PersistentVolumeClaim, name: ledger}}}`)
}

// copies reports harm if a claim in the tenant's namespace starts with the data of another object.
func copies(w *world) string {
	w.Helper()
	list := &corev1.PersistentVolumeClaimList{}
	if err := w.admin.List(w.Context(), list, client.InNamespace(w.ns)); err != nil {
		w.Fatal(err)
	}
	for _, claim := range list.Items {
		if claim.Spec.DataSource != nil || claim.Spec.DataSourceRef != nil {
			return fmt.Sprintf("claim %s starts with the data of %v", claim.Name, claim.Spec.DataSourceRef)
		}
	}
	return ""
}
