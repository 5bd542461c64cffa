// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package drain_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/opcrew/opcrew/internal/nodedrain/drain"
)

var now = time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC)

type podOption func(*corev1.Pod)

// pod returns a ready pod of the application app on node n.
func pod(name string, options ...podOption) *corev1.Pod {
	p := &corev1.Pod{}
	p.Namespace, p.Name, p.UID = "shop", name, types.UID("uid-"+name)
	p.Labels = map[string]string{"app": "db"}
	p.Spec.NodeName = "n"
	p.Status.Phase = corev1.PodRunning
	p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	for _, o := range options {
		o(p)
	}
	return p
}

func unready(p *corev1.Pod)                 { p.Status.Conditions[0].Status = corev1.ConditionFalse }
func phase(phase corev1.PodPhase) podOption { return func(p *corev1.Pod) { p.Status.Phase = phase } }
func on(node string) podOption              { return func(p *corev1.Pod) { p.Spec.NodeName = node } }
func static(p *corev1.Pod)                  { p.Annotations = map[string]string{corev1.MirrorPodAnnotationKey: "x"} }
func app(name string) podOption             { return func(p *corev1.Pod) { p.Labels["app"] = name } }

func ownedBy(apiVersion, kind string) podOption {
	return func(p *corev1.Pod) {
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: apiVersion, Kind: kind, Name: "x", Controller: new(true)}}
	}
}

func endsAt(at time.Time, finalizers ...string) podOption {
	return func(p *corev1.Pod) { p.DeletionTimestamp, p.Finalizers = &metav1.Time{Time: at}, finalizers }
}

type budgetOption func(*policyv1.PodDisruptionBudget)

// budget returns a PodDisruptionBudget for the application db with three pods, one of which may be disrupted.
func budget(name string, options ...budgetOption) *policyv1.PodDisruptionBudget {
	b := &policyv1.PodDisruptionBudget{}
	b.Namespace, b.Name, b.Generation, b.CreationTimestamp = "shop", name, 1, metav1.Time{Time: now.Add(-50 * time.Hour)}
	b.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "db"}}
	b.Spec.MinAvailable = new(intstr.FromInt32(2))
	b.Status = policyv1.PodDisruptionBudgetStatus{ObservedGeneration: 1, DisruptionsAllowed: 1, CurrentHealthy: 3, DesiredHealthy: 2, ExpectedPods: 3}
	for _, o := range options {
		o(b)
	}
	return b
}

func healthy(current int32) budgetOption {
	return func(b *policyv1.PodDisruptionBudget) {
		b.Status.CurrentHealthy, b.Status.DisruptionsAllowed = current, max(0, current-b.Status.DesiredHealthy)
		b.Status.Conditions = []metav1.Condition{{Type: policyv1.DisruptionAllowedCondition, Status: metav1.ConditionFalse, LastTransitionTime: metav1.Time{Time: now.Add(-90 * time.Minute)}}}
	}
}

func always(b *policyv1.PodDisruptionBudget) {
	b.Spec.UnhealthyPodEvictionPolicy = new(policyv1.AlwaysAllow)
}

func changed(b *policyv1.PodDisruptionBudget) { b.Generation++ }

func closed(b *policyv1.PodDisruptionBudget) {
	b.Spec.MinAvailable, b.Spec.MaxUnavailable = nil, new(intstr.FromInt32(0))
	b.Status.DesiredHealthy, b.Status.DisruptionsAllowed = 3, 0
}

func plan(pods []*corev1.Pod, budgets ...*policyv1.PodDisruptionBudget) drain.Plan {
	in := drain.Input{Now: now, Node: "n", Pods: pods}
	for _, b := range budgets {
		in.Budgets = append(in.Budgets, drain.NewBudget(b, pods))
	}
	return drain.Next(in)
}

// text describes a plan, one line per pod.
func text(p drain.Plan) string {
	var out []string
	for _, pod := range p.Evict {
		out = append(out, "evict "+pod.Name)
	}
	for _, pod := range p.Ending {
		out = append(out, "wait for "+pod.Name)
	}
	for _, b := range p.Blocked {
		out = append(out, fmt.Sprintf("%s blocked by %q: %s", b.Name, b.Budget, b.Message))
	}
	return strings.Join(out, "\n")
}

func TestPodsOfANodeAreEvictedOrExplained(t *testing.T) {
	for name, c := range map[string]struct {
		pods    []*corev1.Pod
		budgets []*policyv1.PodDisruptionBudget
		want    string
	}{
		"a pod without a budget":                        {[]*corev1.Pod{pod("a")}, nil, "evict a"},
		"a pod of another node":                         {[]*corev1.Pod{pod("a", on("m"))}, nil, ""},
		"a pod of a DaemonSet stays":                    {[]*corev1.Pod{pod("a", ownedBy("apps/v1", "DaemonSet"))}, nil, ""},
		"a pod of another kind DaemonSet does not stay": {[]*corev1.Pod{pod("a", ownedBy("apps.kruise.io/v1alpha1", "DaemonSet"))}, nil, "evict a"},
		"a pod of a ReplicaSet":                         {[]*corev1.Pod{pod("a", ownedBy("apps/v1", "ReplicaSet"))}, nil, "evict a"},
		"a static pod stays":                            {[]*corev1.Pod{pod("a", static)}, nil, ""},
		"finished pods stay":                            {[]*corev1.Pod{pod("a", phase(corev1.PodSucceeded)), pod("b", phase(corev1.PodFailed))}, nil, ""},
		"a pod that ends":                               {[]*corev1.Pod{pod("a", endsAt(now.Add(time.Minute)))}, nil, "wait for a"},
		"a pod that should have ended":                  {[]*corev1.Pod{pod("a", endsAt(now.Add(-2*time.Minute)))}, nil, `a blocked by "": its grace period ended 2m ago, and the kubelet has not stopped it: check the kubelet and the container runtime of the node`},
		"a pod that a finalizer keeps":                  {[]*corev1.Pod{pod("a", endsAt(now.Add(-2*time.Hour), "x.io/keep"))}, nil, `a blocked by "": its grace period ended 2h ago, and the finalizer x.io/keep keeps it: find the controller of the finalizer`},
		"as many pods as the budget allows": {[]*corev1.Pod{pod("a"), pod("b")}, []*policyv1.PodDisruptionBudget{budget("db")},
			"evict a\n" + `b blocked by "db": PodDisruptionBudget db (2d old) allows no further eviction while other pods are evicted: this pod follows`},
		"a budget of other pods": {[]*corev1.Pod{pod("a", app("web"))}, []*policyv1.PodDisruptionBudget{budget("db", healthy(2))}, "evict a"},
		"a budget that is used up": {[]*corev1.Pod{pod("a"), pod("z", on("m"), unready)}, []*policyv1.PodDisruptionBudget{budget("db", healthy(2))},
			`a blocked by "db": PodDisruptionBudget db (2d old) allows no disruption since 1h: 2 of its pods are healthy, and 2 must be, not ready: z: make the pods ready`},
		"a budget without room": {[]*corev1.Pod{pod("a")}, []*policyv1.PodDisruptionBudget{budget("db", healthy(2))},
			`a blocked by "db": PodDisruptionBudget db (2d old) allows no disruption since 1h: 2 of its pods are healthy, and 2 must be: add a replica, or allow more disruptions`},
		"a pod that is not ready blocks its own eviction": {[]*corev1.Pod{pod("a", unready)}, []*policyv1.PodDisruptionBudget{budget("db", healthy(1))},
			`a blocked by "db": PodDisruptionBudget db (2d old) allows no disruption since 1h: 1 of its pods are healthy, and 2 must be, not ready: a: make the pods ready, or set unhealthyPodEvictionPolicy: AlwaysAllow in the budget, which lets this pod be evicted because it is not ready`},
		"a pod that is not ready, with a policy":          {[]*corev1.Pod{pod("a", unready)}, []*policyv1.PodDisruptionBudget{budget("db", healthy(1), always)}, "evict a"},
		"a pod that is not ready while enough others are": {[]*corev1.Pod{pod("a", unready), pod("b")}, []*policyv1.PodDisruptionBudget{budget("db", healthy(3))}, "evict a\nevict b"},
		"a pod that is not ready, and no others must be":  {[]*corev1.Pod{pod("a", unready)}, []*policyv1.PodDisruptionBudget{budget("db", closed, func(b *policyv1.PodDisruptionBudget) { b.Status.DesiredHealthy, b.Status.ExpectedPods = 0, 0 })}, `a blocked by "db": PodDisruptionBudget db (2d old) allows no disruption: 3 of its pods are healthy, and 0 must be, not ready: a: make the pods ready, or set unhealthyPodEvictionPolicy: AlwaysAllow in the budget, which lets this pod be evicted because it is not ready`},
		"a pending pod": {[]*corev1.Pod{pod("a", unready, phase(corev1.PodPending))}, []*policyv1.PodDisruptionBudget{budget("db", healthy(0))}, "evict a"},
		"a budget that never allows a disruption": {[]*corev1.Pod{pod("a")}, []*policyv1.PodDisruptionBudget{budget("db", closed)},
			`a blocked by "db": PodDisruptionBudget db (2d old) never allows a disruption (maxUnavailable: 0): lower minAvailable, raise maxUnavailable, or delete the pod yourself`},
		"a budget that was just changed": {[]*corev1.Pod{pod("a")}, []*policyv1.PodDisruptionBudget{budget("db", changed)},
			`a blocked by "db": PodDisruptionBudget db (2d old) was changed, and Kubernetes has not counted its pods yet: this pod follows in a moment`},
		"a pod with two budgets": {[]*corev1.Pod{pod("a")}, []*policyv1.PodDisruptionBudget{budget("db"), budget("all", func(b *policyv1.PodDisruptionBudget) { b.Spec.Selector = &metav1.LabelSelector{} })},
			`a blocked by "db": the PodDisruptionBudgets db and all select it, and Kubernetes evicts no pod with several: change their selectors so that one remains`},
	} {
		t.Run(name, func(t *testing.T) {
			got := plan(c.pods, c.budgets...)
			if text(got) != c.want {
				t.Errorf("expected\n%s\ngot\n%s", c.want, text(got))
			}
			if got.Done() != (c.want == "") {
				t.Errorf("expected the node to be drained: %t", c.want == "")
			}
		})
	}
}

func TestAPlanNeverUsesMoreDisruptionsThanABudgetAllows(t *testing.T) {
	for allowed := range int32(6) {
		for ready := range 6 {
			var pods []*corev1.Pod
			for i := range 5 {
				p := pod(fmt.Sprint("p", i))
				if i >= ready {
					unready(p)
				}
				pods = append(pods, p)
			}
			b := budget("db", func(b *policyv1.PodDisruptionBudget) {
				b.Status.DesiredHealthy, b.Status.CurrentHealthy, b.Status.DisruptionsAllowed, b.Status.ExpectedPods = 5-allowed, 5, allowed, 5
			})
			used := 0
			got := plan(pods, b)
			for _, victim := range got.Evict {
				if i := slices.IndexFunc(pods, func(p *corev1.Pod) bool { return p.Name == victim.Name }); i < ready {
					used++
				}
				if victim.UID == "" {
					t.Fatal("expected each eviction to have a UID")
				}
			}
			if used > int(allowed) || len(got.Evict)+len(got.Blocked) != 5 {
				t.Errorf("allowed %d, ready %d: expected every pod once, and at most %d evictions of ready pods, got\n%s", allowed, ready, allowed, text(got))
			}
		}
	}
}

func TestALargeNodeIsDrainedInParts(t *testing.T) {
	var pods []*corev1.Pod
	for i := range 100 {
		pods = append(pods, pod(fmt.Sprint("p", i)))
	}
	if got := plan(pods); len(got.Evict) != drain.MostAtOnce || got.Later != 100-drain.MostAtOnce || got.Done() {
		t.Errorf("expected %d evictions at once, got %d", drain.MostAtOnce, len(got.Evict))
	}
}

func TestManyUnreadyPodsAreCounted(t *testing.T) {
	pods := []*corev1.Pod{pod("a")}
	for i := range 5 {
		pods = append(pods, pod(fmt.Sprint("z", i), on("m"), unready))
	}
	if got := text(plan(pods, budget("db", healthy(1)))); !strings.Contains(got, "not ready: z0, z1, z2 and 2 more") {
		t.Errorf("expected three names and a number, got %s", got)
	}
}
