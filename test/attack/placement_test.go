// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build attack

package attack

import (
	"slices"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/opcrew/opcrew/test/testenv"
)

const controlPlane = "node-role.kubernetes.io/control-plane"

// placementAttacks returns attacks that try to run pods on nodes of the control plane. Kubernetes lets every user who
// may create pods do that. An administrator can refuse such pods with the policy that keepOffControlPlane installs.
func placementAttacks() []attack {
	toleration := "[{key: " + controlPlane + ", operator: Exists, effect: NoSchedule}]"
	everything := "[{operator: Exists}]"
	tolerates := func(name, manifest string, stops *report) attack {
		return attack{name: "a toleration for the control plane: " + name, source: "OWASP K04", needs: podPolicies,
			manifest: manifest, stops: stops, harm: aRealPodTolerates}
	}
	return []attack{
		tolerates("etcd", etcdWith("pod: {tolerations: "+toleration+"}"), refusedPods()),
		tolerates("etcd that tolerates everything", etcdWith("pod: {tolerations: "+everything+"}"), refusedPods()),
		tolerates("a backup", backup("storageType: S3, s3: {path: b/k}, pod: {tolerations: "+toleration+"}"), refusedPods()),
		tolerates("an AppService", app("pod: {tolerations: "+toleration+"}"), refusedPods()),
		tolerates("a microservice", micro("pod: {tolerations: "+toleration+"}"), refusedPods()),
		tolerates("Memcached", cacheWith("pod: {tolerations: "+toleration+"}"), &report{}),
		tolerates("Redis", redisPod("podTolerations: "+toleration), &report{}),
		tolerates("a Diva", system("pod: {tolerations: "+toleration+"}", ""), &report{}),
	}
}

// refusedPods returns the expected report of an object whose pods the administrator's policy refuses.
func refusedPods() *report { return &report{"", []string{"control plane"}} }

// keepOffControlPlane installs a policy that an administrator could install: it refuses pods of tenants that tolerate
// the taint of the control plane. The policy also applies to pods that the controllers of Deployments and StatefulSets
// create.
func keepOffControlPlane(t *testing.T, env *testenv.Env) {
	t.Helper()
	policy := &admissionv1.ValidatingAdmissionPolicy{Spec: admissionv1.ValidatingAdmissionPolicySpec{
		MatchConstraints: &admissionv1.MatchResources{
			NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{tenantLabel: "yes"}},
			ResourceRules: []admissionv1.NamedRuleWithOperations{{RuleWithOperations: admissionv1.RuleWithOperations{
				Operations: []admissionv1.OperationType{admissionv1.Create},
				Rule:       admissionv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"pods"}},
			}}},
		},
		Validations: []admissionv1.Validation{{
			Expression: "!has(object.spec.tolerations) || object.spec.tolerations.all(t, has(t.key) && t.key != '" + controlPlane + "')",
			Message:    "pods of tenants must not run on the control plane",
		}},
	}}
	policy.Name = "not-on-the-control-plane"
	binding := &admissionv1.ValidatingAdmissionPolicyBinding{Spec: admissionv1.ValidatingAdmissionPolicyBindingSpec{
		PolicyName: policy.Name, ValidationActions: []admissionv1.ValidationAction{admissionv1.Deny},
	}}
	binding.Name = policy.Name
	if err := env.Client.Create(t.Context(), policy); err != nil {
		t.Fatal(err)
	}
	if err := env.Client.Create(t.Context(), binding); err != nil {
		t.Fatal(err)
	}
}

// aRealPodTolerates reports harm if there is a pod that may run on the control plane. The template of a Deployment or
// StatefulSet alone does no harm.
func aRealPodTolerates(w *world) string {
	w.Helper()
	for _, spec := range w.podSpecs(w.ns) {
		if slices.ContainsFunc(spec.Tolerations, func(t corev1.Toleration) bool {
			return t.Key == controlPlane || t.Key == "" && t.Operator == corev1.TolerationOpExists
		}) {
			return "a pod of the tenant may run on the control plane"
		}
	}
	return ""
}
