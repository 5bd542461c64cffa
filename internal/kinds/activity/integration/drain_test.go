// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	"github.com/opcrew/opcrew/internal/nodedrain/claims"
	"github.com/opcrew/opcrew/test/testenv/operator"
)

// drainWritesAHost is the maximum number of writes that a drain adds for a host: the cordon, the uncordon, the eviction of
// its pod, and two statuses of the fleet. The fleet also gets a finalizer.
const drainWritesAHost = 5

func drains(h *egov1.Hosts) { h.Drain = &egov1.Drain{} }

func drainsWithin(seconds int64) func(*egov1.Hosts) {
	return func(h *egov1.Hosts) { h.Drain = &egov1.Drain{TimeoutSeconds: &seconds} }
}

// pod creates a pod of the application db on a node.
func (s *site) pod(name, host string) *corev1.Pod {
	s.Helper()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: s.ns, Name: name, Labels: map[string]string{"app": "db"}}}
	pod.Spec = corev1.PodSpec{NodeName: host, Containers: []corev1.Container{{Name: "db", Image: "db"}}}
	s.made(pod)
	return pod
}

// budget creates a PodDisruptionBudget that lets no pod of the application db be evicted while there is only one.
func (s *site) budget() *policyv1.PodDisruptionBudget {
	s.Helper()
	budget := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: s.ns, Name: "db"}}
	budget.Spec = policyv1.PodDisruptionBudgetSpec{MinAvailable: new(intstr.FromInt32(1)), Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "db"}}}
	s.made(budget)
	return budget
}

func (s *site) drop(object client.Object) {
	s.Helper()
	if err := env.Client.Delete(s.Context(), object); client.IgnoreNotFound(err) != nil {
		s.Fatal(err)
	}
}

func (s *site) node(name string) *corev1.Node {
	s.Helper()
	n := &corev1.Node{}
	if err := env.Client.Get(s.Context(), client.ObjectKey{Name: name}, n); err != nil {
		s.Fatal(err)
	}
	return n
}

func (s *site) cordon(name string, yes bool) {
	s.Helper()
	patch := fmt.Sprintf(`{"spec":{"unschedulable":%t}}`, yes)
	if err := env.Client.Patch(s.Context(), node(name), client.RawPatch("application/merge-patch+json", []byte(patch))); err != nil {
		s.Fatal(err)
	}
}

// awaitCordon waits until a node is cordoned by a fleet, or is not, and has no record of it either.
func (s *site) awaitCordon(name string, yes bool) {
	s.Helper()
	operator.Until(s.T, fmt.Sprintf("node %s is cordoned by a fleet: %t", name, yes), func() error {
		n := s.node(name)
		if n.Spec.Unschedulable != yes || (n.Annotations[claims.FleetCordon] != "") != yes {
			return fmt.Errorf("it is cordoned: %t, by %q", n.Spec.Unschedulable, n.Annotations[claims.FleetCordon])
		}
		return nil
	})
}

func TestAFleetDrainsANodeRunsTheCommandAndUncordonsIt(t *testing.T) {
	s := newSite(t)
	s.more(1, nil) // pods of the only node of a cluster could not run elsewhere
	pods := []*corev1.Pod{s.pod("one", s.hosts[0]), s.pod("two", s.hosts[1])}
	k := s.kubelet(0, func(string) string { return succeeds })
	mark := env.Audit.Mark(t)
	s.create("upgrade", "work", onHosts(s.hosts, drains))
	s.await("upgrade", egov1.StateSucceeded, "succeeded on all of 2 hosts")
	for i, pod := range pods {
		s.awaitCordon(s.hosts[i], false)
		if err := env.Client.Get(t.Context(), client.ObjectKeyFromObject(pod), &corev1.Pod{}); !apierrors.IsNotFound(err) {
			t.Errorf("expected pod %s to be evicted, got %v", pod.Name, err)
		}
	}
	if err := k.ran(2, 1); err != nil {
		t.Error(err)
	}
	if writes := len(env.Settled(t, mark).Writes()); writes > 2*(fleetWritesAHost+drainWritesAHost)+fleetWrites+1 {
		t.Errorf("expected at most %d writes a host, got %v", fleetWritesAHost+drainWritesAHost, env.Calls(t, mark).Tally())
	}
	env.Rests(t)
	s.operator.ExpectNoWork(func() { env.Heartbeat(t, s.hosts...) })
}

func TestAPodThatCannotBeEvictedIsNamedAndHoldsTheCommandBack(t *testing.T) {
	s := newSite(t)
	k := s.kubelet(0, func(string) string { return succeeds })
	s.pod("db", s.hosts[0])
	budget := s.budget()
	s.create("upgrade", "work", onHosts(s.hosts, drains))
	a := s.await("upgrade", egov1.StateRunning, "node "+s.hosts[0]+" cannot be drained yet: pod "+s.ns+"/db: PodDisruptionBudget db")
	s.awaitCordon(s.hosts[0], true)
	if f := a.Status.Fleet; f.Pending != 1 || f.NotStarted != 1 {
		t.Errorf("expected the host that is drained to use the budget, got %+v", f)
	}
	if err := k.ran(0, 0); err != nil {
		t.Error(err)
	}
	s.drop(budget)
	s.await("upgrade", egov1.StateSucceeded, "all of 2 hosts")
	s.awaitCordon(s.hosts[0], false)
}

func TestADrainThatTakesTooLongFailsItsHost(t *testing.T) {
	s := newSite(t)
	k := s.kubelet(0, func(string) string { return succeeds })
	s.pod("db", s.hosts[0])
	budget := s.budget()
	s.create("upgrade", "work", onHosts(s.hosts, drainsWithin(1)))
	a := s.await("upgrade", egov1.StateFailed, "did not succeed on 1 host, more than maxFailures (0) allows")
	if g := a.Status.Fleet.Groups; len(g) != 1 || g[0].State != egov1.StateTimedOut || !strings.Contains(g[0].Message, "pod "+s.ns+"/db") {
		t.Errorf("expected the result to name the pod, got %+v", g)
	}
	if err := k.ran(0, 0); err != nil {
		t.Error(err)
	}
	s.awaitCordon(s.hosts[0], false)
	env.Settled(t, env.Audit.Mark(t))
	env.Rests(t)
	s.drop(budget)
	s.patch("upgrade", `{"spec":{"run":2,"hosts":{"drain":{"timeoutSeconds":600}}}}`)
	s.await("upgrade", egov1.StateSucceeded, "all of 2 hosts")
}

func TestANodeOnWhichTheCommandFailedStaysCordonedUntilItSucceeds(t *testing.T) {
	s := newSite(t)
	var repaired atomic.Bool
	s.kubelet(0, func(string) string { return map[bool]string{true: succeeds, false: diskFull}[repaired.Load()] })
	s.create("upgrade", "work", onHosts(s.hosts, drains))
	s.await("upgrade", egov1.StateFailed, "opcrew keeps these nodes cordoned: "+s.hosts[0], "raise spec.run, or kubectl uncordon")
	s.awaitCordon(s.hosts[0], true)
	env.Settled(t, env.Audit.Mark(t))
	env.Rests(t)
	repaired.Store(true)
	s.patch("upgrade", `{"spec":{"run":2}}`)
	s.await("upgrade", egov1.StateSucceeded, "all of 2 hosts")
	s.awaitCordon(s.hosts[0], false)
}

func TestANodeThatAUserUncordonsAfterAFailureIsLeftAlone(t *testing.T) {
	s := newSite(t)
	s.kubelet(0, func(string) string { return diskFull })
	s.create("upgrade", "work", onHosts(s.hosts, drains))
	s.await("upgrade", egov1.StateFailed)
	s.awaitCordon(s.hosts[0], true)
	s.cordon(s.hosts[0], false)
	s.awaitCordon(s.hosts[0], false)
	env.Settled(t, env.Audit.Mark(t))
	env.Rests(t)
}

func TestANodeThatAUserUncordonsWhileItIsDrainedIsCordonedAgain(t *testing.T) {
	s := newSite(t)
	s.pod("db", s.hosts[0])
	s.budget()
	s.create("upgrade", "work", onHosts(s.hosts, drains))
	s.await("upgrade", egov1.StateRunning, "cannot be drained yet")
	s.cordon(s.hosts[0], false)
	s.awaitCordon(s.hosts[0], true)
}

func TestANodeThatAUserCordonedIsNeitherDrainedNorUncordoned(t *testing.T) {
	s := newSite(t)
	k := s.kubelet(0, func(string) string { return succeeds })
	s.cordon(s.hosts[0], true)
	pod := s.pod("db", s.hosts[0])
	s.create("upgrade", "work", onHosts(s.hosts, drains, atOnce(2)))
	s.await("upgrade", egov1.StateRunning, s.hosts[0]+" is cordoned", "the run continues when")
	if err := k.ran(1, 1); err != nil {
		t.Error(err)
	}
	if err := env.Client.Get(t.Context(), client.ObjectKeyFromObject(pod), pod); err != nil || pod.DeletionTimestamp != nil {
		t.Errorf("expected the pod to stay, got %v", err)
	}
	if n := s.node(s.hosts[0]); !n.Spec.Unschedulable || n.Annotations[claims.FleetCordon] != "" {
		t.Errorf("expected the cordon of the user, got %+v", n.Spec)
	}
	s.cordon(s.hosts[0], false)
	s.await("upgrade", egov1.StateSucceeded, "all of 2 hosts")
}

func TestACancelOrADeletionUncordonsWhatIsDrained(t *testing.T) {
	s := newSite(t)
	s.pod("db", s.hosts[0])
	s.budget()
	s.create("cancelled", "work", onHosts(s.hosts, drains))
	s.await("cancelled", egov1.StateRunning, "cannot be drained yet")
	s.patch("cancelled", `{"spec":{"cancel":true}}`)
	s.await("cancelled", egov1.StateCancelled)
	s.awaitCordon(s.hosts[0], false)
	s.create("deleted", "work", onHosts(s.hosts, drains))
	s.await("deleted", egov1.StateRunning, "cannot be drained yet")
	a := s.get("deleted")
	s.delete("deleted")
	s.gone(a)
	s.awaitCordon(s.hosts[0], false)
}

func TestADeletionEndsTheCommandsAndLeavesNoCordon(t *testing.T) {
	s := newSite(t)
	s.kubelet(0, func(host string) string { return map[bool]string{true: diskFull, false: goesOn}[host == s.hosts[0]] })
	s.create("upgrade", "sleep", onHosts(s.hosts, drains, atOnce(2), func(h *egov1.Hosts) { h.MaxFailures = new(int32(2)) }))
	operator.Until(t, "one host has failed, and one runs", func() error {
		if f := s.get("upgrade").Status.Fleet; f == nil || f.Running != 1 || f.Failed != 1 {
			return fmt.Errorf("the status is %+v", f)
		}
		return nil
	})
	a, child := s.get("upgrade"), s.child("upgrade", 1, s.hosts[1])
	s.delete("upgrade")
	s.gone(child)
	s.gone(a)
	for _, host := range s.hosts {
		s.awaitCordon(host, false)
	}
}

func TestAnApprovalThatIsWithdrawnEndsADrain(t *testing.T) {
	s := newSite(t)
	s.grant("ada", rule("activities", "*"), rule("hosts", "run"), rule("hosts", "drain"), rule("hostusers", "run-as"))
	s.grant("bob", approver())
	s.pod("db", s.hosts[0])
	s.budget()
	s.try("ada makes one", "", func() error {
		return s.as("ada").Create(s.Context(), s.declared("upgrade", "true", onHosts(s.hosts, needsApproval, drains)))
	})
	hash := s.await("upgrade", egov1.StatePending, "the approval of a second user").Status.SpecHash
	s.try("bob approves", "", s.approve("bob", "upgrade", hash))
	s.await("upgrade", egov1.StateRunning, "cannot be drained yet")
	s.awaitCordon(s.hosts[0], true)
	s.patch("upgrade", `{"spec":{"hosts":{"approval":{"approvedHash":null,"approver":null}}}}`)
	s.awaitCordon(s.hosts[0], false)
}

func TestADrainNeedsARightOfItsOwn(t *testing.T) {
	s := newSite(t)
	k := s.kubelet(0, func(string) string { return succeeds })
	s.grant("ada", rule("activities", "*"), rule("hosts", "run"), rule("hosts", "drain", s.hosts[1]), rule("hostusers", "run-as"))
	s.try("ada makes one", "", func() error {
		return s.as("ada").Create(s.Context(), s.declared("upgrade", "true", onHosts(s.hosts, drains, func(h *egov1.Hosts) { h.MaxFailures = new(int32(1)) })))
	})
	a := s.await("upgrade", egov1.StateFailed)
	if f := a.Status.Fleet; f.Succeeded != 1 || len(f.Groups) != 2 || !strings.Contains(f.Groups[0].Message+f.Groups[1].Message, "ada has no right to drain hosts."+group+" "+s.hosts[0]) {
		t.Errorf("expected one host without the right, got %+v", f)
	}
	if err := k.ran(1, 1); err != nil {
		t.Error(err)
	}
	s.awaitCordon(s.hosts[0], false)
}

// The operator dies at any time. Whatever it has written, another process continues from there.
func TestADrainSurvivesRestartsOfTheOperator(t *testing.T) {
	s := newSite(t)
	k := s.kubelet(0, func(string) string { return succeeds })
	s.pod("db", s.hosts[0])
	budget := s.budget()
	s.create("upgrade", "work", onHosts(s.hosts, drains))
	s.awaitCordon(s.hosts[0], true)
	s.operator.Stop()
	s.drop(budget)
	s.operator.Start()
	s.await("upgrade", egov1.StateSucceeded, "all of 2 hosts")
	if err := k.ran(2, 1); err != nil {
		t.Error(err)
	}
	for _, host := range s.hosts {
		s.awaitCordon(host, false)
	}
}

// A drain does not end the command of another Activity.
func TestADrainWaitsForTheCommandsOfOtherActivities(t *testing.T) {
	s := newSite(t)
	s.create("other", "sleep")
	s.await("other", egov1.StateRunning)
	s.create("upgrade", "true", onHosts(s.hosts[:1], drains))
	s.await("upgrade", egov1.StateRunning, "it runs the command of Activity "+s.ns+"/other, and the drain waits until it ends")
	s.patch("other", `{"spec":{"cancel":true}}`)
	s.await("other", egov1.StateCancelled)
	s.await("upgrade", egov1.StateSucceeded)
}
