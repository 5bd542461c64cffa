// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	mcfgv1 "github.com/opcrew/opcrew/api/machineconfiguration/v1"
	"github.com/opcrew/opcrew/test/testenv"
	"github.com/opcrew/opcrew/test/testenv/machineagents"
	"github.com/opcrew/opcrew/test/testenv/operator"
)

// newPod returns a pod of the application db on a node.
func newPod(ns, name, node string) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name, Labels: map[string]string{"app": "db"}}}
	pod.Spec = corev1.PodSpec{NodeName: node, Containers: []corev1.Container{{Name: "db", Image: "db"}}}
	return pod
}

// newBudget returns a PodDisruptionBudget that lets no pod of the application db be evicted while there is only one.
func newBudget(ns string) *policyv1.PodDisruptionBudget {
	budget := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "db"}}
	one := intstr.FromInt32(1)
	budget.Spec = policyv1.PodDisruptionBudgetSpec{MinAvailable: &one, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "db"}}}
	return budget
}

// deny installs a policy that refuses the eviction of a pod, and waits until it is in force.
func deny(t *testing.T, pod *corev1.Pod) (remove func()) {
	t.Helper()
	meta := metav1.ObjectMeta{Name: "keep-" + pod.Namespace}
	rule := admissionv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"pods/eviction"}}
	policy := &admissionv1.ValidatingAdmissionPolicy{ObjectMeta: meta}
	policy.Spec.MatchConstraints = &admissionv1.MatchResources{ResourceRules: []admissionv1.NamedRuleWithOperations{{
		RuleWithOperations: admissionv1.RuleWithOperations{Operations: []admissionv1.OperationType{admissionv1.Create}, Rule: rule},
	}}}
	policy.Spec.Validations = []admissionv1.Validation{{
		Expression: fmt.Sprintf("object.metadata.namespace != %q || object.metadata.name != %q", pod.Namespace, pod.Name), Message: "this pod must stay",
	}}
	binding := &admissionv1.ValidatingAdmissionPolicyBinding{ObjectMeta: meta}
	binding.Spec = admissionv1.ValidatingAdmissionPolicyBindingSpec{PolicyName: meta.Name, ValidationActions: []admissionv1.ValidationAction{admissionv1.Deny}}
	create(t, policy, binding)
	operator.Until(t, "the policy is in force", func() error {
		err := env.Client.SubResource("eviction").Create(t.Context(), pod, &policyv1.Eviction{}, client.DryRunAll)
		if err != nil && strings.Contains(err.Error(), "must stay") {
			return nil
		}
		return fmt.Errorf("the answer is %w", err)
	})
	return func() {
		if err := env.Client.Delete(t.Context(), binding); err != nil {
			t.Error(err)
		}
	}
}

func TestARefusedEvictionIsNamedAndOtherPodsAreEvicted(t *testing.T) {
	env.Operator(t)
	machineagents.Follow(t, env.Client)
	names := nodesOf(t, "denied", 1)
	env.Nodes(t, 1, testenv.NodeSpec{Prefix: "spare"}) // the only node of a cluster is not drained
	ns := env.Namespace(t)
	kept, other := newPod(ns, "a-kept", names[0]), newPod(ns, "b-other", names[0])
	create(t, kept, other)
	remove := deny(t, kept)
	create(t, newConfig("denied", "50-denied", "hello"), newPool("denied"))
	p := await(t, "denied", "the pool names the refusal", func(p *mcfgv1.MachineConfigPool) bool {
		return condition(p, mcfgv1.PoolReady).Reason == mcfgv1.ReasonDrainBlocked && len(p.Status.Nodes) == 1 && len(p.Status.Nodes[0].Blockers) == 1
	})
	if b := p.Status.Nodes[0].Blockers[0]; b.Pod != ns+"/a-kept" || !strings.Contains(b.Message, "this pod must stay") {
		t.Errorf("expected the pod and the answer of the API server to be named, got %+v", b)
	}
	operator.Until(t, "the other pod is evicted", func() error {
		if err := env.Client.Get(t.Context(), client.ObjectKeyFromObject(other), &corev1.Pod{}); !apierrors.IsNotFound(err) {
			return fmt.Errorf("reading the pod: %w", err)
		}
		return nil
	})
	remove()
	p = awaitUpdated(t, "denied", 1, "")
	expectSettled(t, names[0], p.Spec.Configuration.Name)
}

func TestTheDeletionOfTheLastPoolReleasesANodeThatIsDrained(t *testing.T) {
	env.Operator(t)
	machineagents.Follow(t, env.Client)
	names := nodesOf(t, "last", 1)
	env.Nodes(t, 1, testenv.NodeSpec{Prefix: "spare"})
	ns := env.Namespace(t)
	budget, pool := newBudget(ns), newPool("last")
	create(t, newPod(ns, "db", names[0]), budget, newConfig("last", "50-last", "hello"), pool)
	await(t, "last", "the drain is blocked", func(p *mcfgv1.MachineConfigPool) bool {
		return condition(p, mcfgv1.PoolRolloutBlocked).Reason == mcfgv1.ReasonDrainBlocked
	})
	for _, object := range []client.Object{pool, budget} {
		if err := env.Client.Delete(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
	operator.Until(t, "the node is schedulable, and opcrew's taints are gone", func() error {
		if n := node(t, names[0]); n.Spec.Unschedulable || hasOurTaint(n) || n.Annotations["opcrew.io/machine-cordoned"] != "" {
			return fmt.Errorf("it has the taints %v and the annotations %v", n.Spec.Taints, n.Annotations)
		}
		return nil
	})
}
