// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build attack

package attack

import (
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// theirs is a Deployment of another user in the tenant's namespace. It has the name that opcrew would give to a child
// of the tenant's object.
const theirs = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {app.kubernetes.io/managed-by: opcrew, opcrew.io/owner: of-another}}
spec:
  selector: {matchLabels: {app: theirs}}
  template: {metadata: {labels: {app: theirs}}, spec: {containers: [{name: theirs, image: "theirs:1"}]}}
`

// theirKeys is a Secret of another user. It has the name of the Secret in which opcrew stores the keys of a Diva.
const theirKeys = `{apiVersion: v1, kind: Secret, metadata: {name: ops-ssh}, stringData: {privateKey: "their private key"}}`

// referenceAttacks returns attacks that try to reach other users' objects through names, labels, owner references and
// subresources.
func referenceAttacks() []attack {
	return []attack{
		{name: "a child with the name of a Deployment of others", source: "OWASP K03", needs: ownership,
			before: func(w *world) { w.has(theirs) }, manifest: app("size: 1"), stops: &report{"NameTaken", []string{"web"}},
			harm: changed("theirs:1"), control: func(w *world) { w.reimage("web", "mallory:1") }},
		{name: "a child with the name of a Secret of others", source: "OWASP K08", needs: ownership,
			before: func(w *world) { w.has(theirKeys) }, manifest: system("", ""), stops: &report{"NameTaken", []string{"ops-ssh"}},
			harm: aPodMentions("ops-ssh"), control: func(w *world) {
				w.has(`{apiVersion: v1, kind: Pod, metadata: {name: bare}, spec: {containers: [{name: a, image: a}], volumes: [{name: v, secret: {secretName: ops-ssh}}]}}`)
			}},
		{name: "a child with the name of an object of another kind of opcrew", source: "OWASP K03", needs: ownership,
			before:   func(w *world) { w.has(strings.Replace(theirs, "opcrew.io/owner: of-another", "team: a", 1)) },
			manifest: strings.Replace(micro("fullName: web"), "name: shop}", "name: web}", 1), stops: &report{"NameTaken", []string{"web"}},
			harm: changed("theirs:1"), control: func(w *world) { w.reimage("web", "mallory:1") }},
		{name: "a status that the tenant writes", source: "OWASP K03, CVE-2020-8554", needs: rbac,
			act: func(w *world) error {
				w.subject = w.has(app("size: 1"))
				patch := client.RawPatch("application/merge-patch+json", []byte(`{"status":{"replicas":7}}`))
				return w.tenant.Status().Patch(w.Context(), w.subject, patch)
			}, refused: []string{"forbidden", "status"}},
		{name: "a Secret of the tenant's namespace", source: "OWASP K03, K08", needs: rbac, before: payroll,
			act: func(w *world) error {
				return w.tenant.Get(w.Context(), client.ObjectKey{Namespace: w.ns, Name: "payroll"}, &corev1.Secret{})
			}, refused: []string{"forbidden", "secrets"}},
		{name: "a shell in the pods", source: "OWASP K03", needs: rbac,
			act: func(w *world) error { return w.tenant.List(w.Context(), &corev1.PodList{}, client.InNamespace(w.ns)) }, refused: []string{"forbidden", "pods"}},
		{name: "an Activity on a host", source: "OWASP K03, K04", needs: policies, manifest: runOn(""), refused: []string{"may not run commands on host"}},
		{name: "an Activity on several hosts", source: "OWASP K03, K04", needs: policies,
			manifest: strings.Replace(runOn(""), "host: node1", "hosts: {nodePool: control-plane, maxUnavailable: 100%}", 1), refused: []string{"may not run commands as user root"}},
		{name: "an Activity in the name of an administrator", source: "OWASP K03, K06", needs: policies,
			manifest: runOn(`requester: {username: "system:admin", groups: ["system:masters"]}`), refused: []string{"may not run commands on host"}},
		{name: "an Activity that claims to be of a schedule", source: "OWASP K03, K06", needs: policies,
			manifest: strings.Replace(runOn(`requester: {username: "system:serviceaccount:opcrew-system:opcrew-machines"}`), "name: run",
				"name: run, ownerReferences: [{apiVersion: ego.example.com/v1, kind: Activity, name: all, uid: x, controller: true}]", 1),
			refused: []string{"may not run commands on host"}},
		{name: "an object that owns what others have", source: "OWASP K03", needs: ownership,
			before: func(w *world) { w.has(theirs) },
			manifest: `
apiVersion: app.example.com/v1
kind: AppService
metadata: {name: other-web, labels: {opcrew.io/owner: of-another, app.kubernetes.io/managed-by: opcrew}}
spec: {image: "nginx:1.26"}
`, harm: changed("theirs:1"), control: func(w *world) { w.reimage("web", "mallory:1") }},
	}
}

func runOn(fields string) string {
	return `
apiVersion: ego.example.com/v1
kind: Activity
metadata: {name: run}
spec: {command: id, host: node1, ` + fields + `}
`
}

// changed returns a function that reports harm if the Deployment "web" of another user is gone, or does not run image.
func changed(image string) func(w *world) string {
	return func(w *world) string {
		w.Helper()
		deployment := &appsv1.Deployment{}
		if err := w.admin.Get(w.Context(), client.ObjectKey{Namespace: w.ns, Name: "web"}, deployment); err != nil {
			return fmt.Sprintf("the Deployment of another user is gone: %v", err)
		}
		if got := deployment.Spec.Template.Spec.Containers[0].Image; got != image || len(deployment.OwnerReferences) > 0 {
			return "the Deployment of another user runs " + got
		}
		return ""
	}
}

// reimage changes the image of a Deployment as an administrator, to simulate harm.
func (w *world) reimage(name, image string) {
	w.Helper()
	deployment := &unstructured.Unstructured{}
	deployment.SetGroupVersionKind(appsv1.SchemeGroupVersion.WithKind("Deployment"))
	deployment.SetNamespace(w.ns)
	deployment.SetName(name)
	patch := client.RawPatch("application/json-patch+json", fmt.Appendf(nil, `[{"op":"replace","path":"/spec/template/spec/containers/0/image","value":%q}]`, image))
	if err := w.admin.Patch(w.Context(), deployment, patch); err != nil {
		w.Fatal(err)
	}
}
