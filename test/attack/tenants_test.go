// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build attack

package attack

import (
	"bytes"
	"fmt"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/internal/podapi/sshkeys"
)

// inOther returns a manifest with another name, in the namespace of another tenant.
func inOther(manifest, name, rename string) string {
	return strings.Replace(manifest, "metadata: {name: "+name+"}", "metadata: {name: "+rename+", namespace: OTHER}", 1)
}

// taken returns a function that creates an object of another tenant and waits until the operator has reported a status.
func taken(manifest string) func(w *world) {
	return func(w *world) {
		w.Helper()
		w.subject = w.has(manifest)
		w.awaitReport()
	}
}

// reveals returns a function that reports harm if the status of the tenant's object names objects of another tenant.
func reveals(name string) func(w *world) string {
	return func(w *world) string {
		if status := w.status(); strings.Contains(status, w.other) || strings.Contains(status, name) {
			return "the status names what another tenant has: " + status
		}
		return ""
	}
}

// tenantAttacks returns attacks in which a tenant tries to affect another tenant.
func tenantAttacks() []attack {
	host := micro(`baseDomain: apps.example.com, ports: [{port: 80}]`)
	port := strings.Replace(app("size: 1"), "{port: 80}", "{port: 80, nodePort: PORT}", 1)
	return []attack{
		{name: "the host name of another tenant", source: "review 9, CVE-2021-25740", item: 9, needs: requester,
			before: taken(inOther(host, "shop", "treasury")), manifest: host, refused: []string{"baseDomain"}, stops: &report{"", []string{"apps.example.com"}},
			harm: reveals("treasury"), control: func(w *world) {
				w.subject = w.has(inOther(host, "shop", "treasury-2"))
				w.other = "treasury-2"
			}},
		{name: "the node port of another tenant", source: "review 9", item: 9, needs: requester,
			before: taken(strings.Replace(inOther(port, "web", "treasury"), "PORT", "30742", 1)), manifest: strings.Replace(port, "PORT", "30742", 1),
			refused: []string{"nodePort"}, stops: &report{"", []string{"30742"}}, harm: reveals("treasury"),
			control: func(w *world) {
				w.subject = w.has(strings.Replace(inOther(app("size: 1"), "web", "treasury-2"), "PORT", "30743", 1))
				w.other = "treasury-2"
			}},
		{name: "the key that logs in to all clients of a Diva", source: "review 9, OWASP K08", item: 9, needs: clientKeys, pods: true,
			manifest: system("", ""), harm: clientReadsLoginKey, control: func(w *world) {
				w.has(`{apiVersion: v1, kind: Secret, metadata: {name: keys}, stringData: {id: "-----BEGIN OPENSSH PRIVATE KEY-----"}}`)
				w.has(`{apiVersion: v1, kind: Pod, metadata: {name: ops-client-0, labels: {diva-client: ops}}, spec: {containers: [{name: a, image: a}], volumes: [{name: v, secret: {secretName: keys}}]}}`)
			}},
		{name: "a host key that all clients of a Diva share", source: "review 9", item: 9, needs: clientKeys, pods: true,
			manifest: system("", ""), harm: clientsShareHostKey, control: func(w *world) {
				w.has(`{apiVersion: v1, kind: Secret, metadata: {name: ops-ssh}, stringData: {knownHosts: "*.ops-client ssh-ed25519 AAAA"}}`)
			}},
	}
}

// clientReadsLoginKey reports harm if a client pod of a Diva mounts the private key for logins.
func clientReadsLoginKey(w *world) string {
	pods := &corev1.PodList{}
	if err := w.admin.List(w.Context(), pods, client.InNamespace(w.ns), client.HasLabels{"diva-client"}); err != nil {
		w.Fatal(err)
	}
	for _, pod := range pods.Items {
		for _, v := range pod.Spec.Volumes {
			if v.Secret == nil {
				continue
			}
			secret := &corev1.Secret{}
			if err := w.admin.Get(w.Context(), client.ObjectKey{Namespace: w.ns, Name: v.Secret.SecretName}, secret); err != nil {
				continue // the Secret does not exist yet
			}
			for key, content := range secret.Data {
				if bytes.Contains(content, []byte("PRIVATE KEY")) {
					return fmt.Sprintf("client %s reads a private key from %s of Secret %s", pod.Name, key, secret.Name)
				}
			}
		}
	}
	return ""
}

// clientsShareHostKey reports harm if a manager of a Diva accepts the same host key from several clients.
func clientsShareHostKey(w *world) string {
	secret := &corev1.Secret{}
	if err := w.admin.Get(w.Context(), client.ObjectKey{Namespace: w.ns, Name: "ops-ssh"}, secret); err != nil {
		return ""
	}
	known := string(secret.Data["knownHosts"])
	if seed := secret.Data["hostSeed"]; len(seed) > 0 {
		if _, first, err := sshkeys.HostKey(seed, "ops-client-0"); err != nil || strings.Count(known, first) != 1 {
			return "no key of its own is known for the first client: " + known
		}
	}
	if strings.Contains(known, "*.ops-client ") || strings.Contains(known, "*.ops-client,") {
		return "the manager accepts one key from all clients: " + known
	}
	return ""
}

// storeAttacks returns attacks on stores such as Redis and etcd, and attacks that make the operator or a backup connect
// to another host.
func storeAttacks() []attack {
	return []attack{
		{name: "a zone of the tenant for the members of etcd", source: "review 3", item: 3, needs: answers,
			manifest: etcdWith(`pod: {ClusterDomain: mallory.example.com}`), pods: true,
			harm: func(w *world) string { return w.cluster.dials.to(w.ns, "mallory.example.com") }, control: func(w *world) {
				w.cluster.dials.endpoints = append(w.cluster.dials.endpoints, "http://a."+w.ns+".svc.mallory.example.com:2379")
			}},
		{name: "a backup of the metadata service of the cloud", source: "CVE-2020-8555, CVE-2020-8562", needs: schema, pods: true, before: payrollAndClaim,
			manifest: backupTo(`"http://169.254.169.254"`), refused: []string{"persistentvolumeclaims"},
			harm: aPodHas("a token for the API server", func(s corev1.PodSpec) bool {
				return s.AutomountServiceAccountToken == nil || *s.AutomountServiceAccountToken
			}),
			control: func(w *world) {
				w.has(`{apiVersion: v1, kind: Pod, metadata: {name: bare}, spec: {containers: [{name: a, image: a}]}}`)
			}},
		{name: "a restore over another tenant's cluster", source: "OWASP K03", needs: schema,
			manifest: `
apiVersion: etcd.database.coreos.com/v1beta2
kind: EtcdRestore
metadata: {name: mine}
spec: {etcdCluster: {name: theirs}, backupStorageType: PVC, pvc: {claimName: c, path: k}}
`, refused: []string{"a restore is named after the EtcdCluster"}},
		{name: "encryption that is not given", source: "review 6, OWASP K07", item: 6, needs: network,
			manifest: redisPod("dataInternodeEncryption: true"), refused: []string{"dataInternodeEncryption"},
			stops: &report{},
			harm:  claimsReady, control: func(w *world) {
				w.subject = w.has(redisPod("dataInternodeEncryption: true"))
				w.claimReady()
			}},
		{name: "a neighbour at the bus of Redis", source: "review 6, OWASP K07", item: 6, needs: network, pods: true,
			manifest: redisPod("persistentSpec: {enabled: false}"), harm: withoutPolicy("the bus of Redis", "cache"), control: func(w *world) { w.has(unprotected) }},
		{name: "a neighbour at the peer port of etcd", source: "review 6, OWASP K07", item: 6, needs: network, pods: true,
			manifest: etcdWith(""), harm: withoutPolicy("the peer port of etcd", "store"), control: func(w *world) { w.has(unprotected) }},
	}
}

// unprotected is the manifest of a pod that no NetworkPolicy selects.
const unprotected = `{apiVersion: v1, kind: Pod, metadata: {name: bare}, spec: {containers: [{name: a, image: a}]}}`

// claimsReady reports harm if Ready is True although the object lacks the protection that its spec requests.
func claimsReady(w *world) string {
	if ready, err := w.ready(); err == nil && ready.Status == "True" && !strings.Contains(ready.Message, "dataInternodeEncryption") {
		return "Ready is True, and the data is not encrypted"
	}
	return ""
}

// claimReady writes Ready=True into the object's status as an administrator, although the object is not ready.
func (w *world) claimReady() {
	w.Helper()
	patch := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"annotations":{"opcrew.io/paused":"true"}},"status":{"conditions":[{"type":"Ready","status":"True","reason":"AllReady","message":"","lastTransitionTime":"2026-01-01T00:00:00Z"}]}}`))
	if err := w.admin.Status().Patch(w.Context(), w.subject, patch); err != nil {
		w.Fatal(err)
	}
}

// withoutPolicy reports harm if pods exist before a NetworkPolicy protects them.
func withoutPolicy(what, name string) func(w *world) string {
	return func(w *world) string {
		if len(w.specs(w.ns)) == 0 {
			return ""
		}
		list := &networkingv1.NetworkPolicyList{}
		if err := w.admin.List(w.Context(), list, client.InNamespace(w.ns)); err != nil {
			w.Fatal(err)
		}
		for _, policy := range list.Items {
			if strings.HasPrefix(policy.Name, name) {
				return ""
			}
		}
		return what + " is open to every pod"
	}
}
