// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"slices"
	"sync/atomic"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	"github.com/opcrew/opcrew/internal/kinds/activity/fleet"
	"github.com/opcrew/opcrew/test/testenv"
	"github.com/opcrew/opcrew/test/testenv/operator"
)

// fleetWritesAHost is the maximum number of writes for one host of a fleet that starts one host at a time: its Activity,
// its pod, the release of the pod, up to four statuses of its Activity, and up to four statuses of the fleet. fleetWrites
// are for the beginning and the end of the run.
const fleetWritesAHost, fleetWrites = 11, 2

// onHosts makes an Activity run on several hosts.
func onHosts(hosts []string, options ...func(*egov1.Hosts)) option {
	return func(a *egov1.Activity) {
		a.Spec.Host, a.Spec.Hosts = "", &egov1.Hosts{}
		for _, name := range hosts {
			a.Spec.Hosts.Names = append(a.Spec.Hosts.Names, egov1.HostName(name))
		}
		for _, o := range options {
			o(a.Spec.Hosts)
		}
	}
}

func atOnce(n int32) func(*egov1.Hosts) {
	return func(h *egov1.Hosts) { h.MaxUnavailable = new(intstr.FromInt32(n)) }
}

// more creates additional hosts for a test.
func (s *site) more(n int, labels map[string]string) []string {
	s.Helper()
	return env.Nodes(s.T, n, testenv.NodeSpec{Prefix: nodePrefix(), Labels: labels})
}

// child returns the Activity of one host of a fleet.
func (s *site) child(name string, number int64, host string) *egov1.Activity {
	s.Helper()
	return s.get(fleet.ChildName(name, number, host))
}

func TestAFleetRunsTheCommandOnceOnEachHostAndThenRests(t *testing.T) {
	s := newSite(t)
	k := s.kubelet(0, func(string) string { return succeeds })
	mark := env.Audit.Mark(t)
	s.create("upgrade", "work", onHosts(s.hosts))
	a := s.await("upgrade", egov1.StateSucceeded, "succeeded on all of 2 hosts")
	if err := k.ran(2, 1); err != nil {
		t.Error(err)
	}
	if f := a.Status.Fleet; f.Hosts != 2 || f.Succeeded != 2 || len(f.Groups) != 1 || f.Groups[0].Output != "upgraded" {
		t.Errorf("expected the results in one group, got %+v", f)
	}
	child := s.child("upgrade", 1, s.hosts[0])
	if child.Spec.Requester.Username != a.Spec.Requester.Username || child.Labels[fleet.Label] != "upgrade" {
		t.Errorf("expected the requester and the label of the fleet, got %+v %+v", child.Spec.Requester, child.Labels)
	}
	if writes := len(env.Settled(t, mark).Writes()); writes > 2*fleetWritesAHost+fleetWrites {
		t.Errorf("expected at most %d writes a host, got %v", fleetWritesAHost, env.Calls(t, mark).Tally())
	}
	env.Rests(t)
	s.operator.ExpectNoWork(func() { env.Heartbeat(t, s.hosts...) })
	s.patch(child.Name, `{"spec":{"run":2}}`) // it would pass by the budget and the approval of the fleet
	s.await(child.Name, egov1.StateRefused, "raise spec.run there")
	s.delete("upgrade")
	s.gone(child)
	s.gone(a)
}

func TestAFailureStopsAFleetAndARerunSkipsWhatSucceeded(t *testing.T) {
	s := newSite(t)
	hosts := slices.Concat(s.hosts, s.more(2, nil))
	var repaired atomic.Bool
	k := s.kubelet(0, func(host string) string {
		if !repaired.Load() && host == hosts[1] {
			return diskFull
		}
		return succeeds
	})
	s.create("upgrade", "work", onHosts(hosts))
	a := s.await("upgrade", egov1.StateFailed, "did not succeed on 1 host, more than maxFailures (0) allows", "raise spec.run")
	if f := a.Status.Fleet; f.Failed != 1 || f.NotStarted != 2 {
		t.Errorf("expected one failure and two hosts that have not started, got %+v", f)
	}
	repaired.Store(true)
	s.patch("upgrade", `{"spec":{"run":2}}`)
	operator.Until(t, "the second run succeeds", func() error {
		if a := s.get("upgrade"); a.Status.Run != 2 || a.Status.Prosta != egov1.StateSucceeded || a.Status.Fleet.Succeeded != 4 {
			return fmt.Errorf("it is run %d, %s", a.Status.Run, a.Status.Prosta)
		}
		return nil
	})
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.pods[hosts[0]] != 1 || k.pods[hosts[1]] != 2 || k.pods[hosts[3]] != 1 {
		t.Errorf("expected a second run only where the first failed, got %v", k.pods)
	}
}

func TestACancelledFleetEndsWhatRuns(t *testing.T) {
	s := newSite(t)
	s.create("upgrade", "sleep", onHosts(s.hosts))
	operator.Until(t, "the first host runs", func() error {
		if f := s.get("upgrade").Status.Fleet; f == nil || f.Running != 1 {
			return fmt.Errorf("the status is %+v", f)
		}
		return nil
	})
	s.patch("upgrade", `{"spec":{"cancel":true}}`)
	a := s.await("upgrade", egov1.StateCancelled, "the run was cancelled")
	if f := a.Status.Fleet; f.NotStarted != 1 || f.Failed != 1 {
		t.Errorf("expected one host that did not start, got %+v", f)
	}
}

// A user deletes the Activity of a host, to try the command there again. Only spec.run may do that.
func TestADeletedActivityOfAHostIsNotCreatedAgain(t *testing.T) {
	s := newSite(t)
	k := s.kubelet(0, func(host string) string { return map[bool]string{true: succeeds}[host == s.hosts[0]] })
	s.create("upgrade", "work", onHosts(s.hosts))
	operator.Until(t, "the second host runs", func() error {
		if f := s.get("upgrade").Status.Fleet; f == nil || f.Running != 1 || f.Succeeded != 1 {
			return fmt.Errorf("the status is %+v", f)
		}
		return nil
	})
	for _, host := range s.hosts {
		s.delete(fleet.ChildName("upgrade", 1, host))
	}
	a := s.await("upgrade", egov1.StateFailed, "did not succeed on 1 of 2 hosts")
	if f := a.Status.Fleet; f.Succeeded != 1 || f.Failed != 1 || len(f.Removed) != 2 {
		t.Errorf("expected the results of deleted Activities in the status, got %+v", f)
	}
	if err := k.ran(2, 1); err != nil {
		t.Error(err)
	}
	operator.Until(t, "the Activities go", func() error {
		err := env.Client.Get(t.Context(), client.ObjectKey{Namespace: s.ns, Name: fleet.ChildName("upgrade", 1, s.hosts[1])}, &egov1.Activity{})
		if !apierrors.IsNotFound(err) {
			return fmt.Errorf("it is there: %w", err)
		}
		return nil
	})
}

// A user removes the finalizer of the Activity of a host, and deletes it. opcrew cannot know whether the command ran.
func TestAFleetStopsIfAnActivityIsTornAway(t *testing.T) {
	s := newSite(t)
	s.create("upgrade", "sleep", onHosts(s.hosts))
	operator.Until(t, "the first host runs", func() error {
		if f := s.get("upgrade").Status.Fleet; f == nil || f.Running != 1 {
			return fmt.Errorf("the status is %+v", f)
		}
		return nil
	})
	s.operator.Stop()
	name := fleet.ChildName("upgrade", 1, s.hosts[0])
	s.patch(name, `{"metadata":{"finalizers":null}}`)
	s.delete(name)
	s.operator.Start()
	a := s.await("upgrade", egov1.StateUnknown, "their finalizer was removed by force")
	if a.Status.Fleet.NotStarted != 2 {
		t.Errorf("expected no further host to start, got %+v", a.Status.Fleet)
	}
}

func TestAFleetWaitsForHostsThatAreNotAvailable(t *testing.T) {
	s := newSite(t)
	web := map[string]string{"site": s.ns}
	hosts := s.more(2, web)
	cordon := func(yes bool) {
		patch := fmt.Sprintf(`{"spec":{"unschedulable":%t}}`, yes)
		if err := env.Client.Patch(t.Context(), node(hosts[1]), client.RawPatch("application/merge-patch+json", []byte(patch))); err != nil {
			t.Fatal(err)
		}
	}
	cordon(true)
	s.kubelet(0, func(string) string { return succeeds })
	s.create("upgrade", "work", func(a *egov1.Activity) {
		a.Spec.Host, a.Spec.Hosts = "", &egov1.Hosts{NodeSelector: map[string]egov1.NodeLabel{"site": egov1.NodeLabel(s.ns)}}
	})
	s.await("upgrade", egov1.StatePending, hosts[1]+" is cordoned", "maxUnavailable allows 1 host")
	env.Settled(t, env.Audit.Mark(t))
	env.Rests(t)
	cordon(false)
	s.await("upgrade", egov1.StateSucceeded, "all of 2 hosts")
}

func TestAFleetWithoutHostsStartsWhenANodeJoins(t *testing.T) {
	s := newSite(t)
	s.kubelet(0, func(string) string { return succeeds })
	s.create("upgrade", "work", func(a *egov1.Activity) { a.Spec.Host, a.Spec.Hosts = "", &egov1.Hosts{NodePool: s.ns} })
	s.await("upgrade", egov1.StatePending, "no node matches hosts.nodePool "+s.ns+", because this NodePool does not exist")
	s.more(1, map[string]string{"node-role.kubernetes.io/" + s.ns: ""})
	s.await("upgrade", egov1.StateSucceeded, "all of 1 host")
}

func TestACanaryThatFailsProtectsTheOtherHosts(t *testing.T) {
	s := newSite(t)
	s.kubelet(0, func(string) string { return diskFull })
	s.create("upgrade", "work", onHosts(s.hosts, atOnce(2), func(h *egov1.Hosts) {
		h.Canary, h.MaxFailures = &egov1.Canary{Hosts: 1}, new(int32(9))
	}))
	a := s.await("upgrade", egov1.StateFailed, "did not succeed on a canary host, so no other host started")
	if a.Status.Fleet.NotStarted != 1 {
		t.Errorf("expected the second host not to start, got %+v", a.Status.Fleet)
	}
}

func TestAFleetStartsHostsOnlyInItsWindow(t *testing.T) {
	s := newSite(t)
	s.kubelet(0, func(string) string { return succeeds })
	january := func(h *egov1.Hosts) { h.Window = &egov1.Window{Schedule: "0 0 1 1 *", DurationSeconds: 60} }
	always := func(h *egov1.Hosts) { h.Window = &egov1.Window{Schedule: "* * * * *", DurationSeconds: 120} }
	s.create("closed", "work", onHosts(s.hosts, january))
	s.create("open", "work", onHosts(s.hosts, always))
	s.await("open", egov1.StateSucceeded)
	s.await("closed", egov1.StatePending, "the maintenance window opens at", "-01-01T00:00:00Z")
}

func TestAnEndedFleetIsDeletedAfterItsLifetimeWithEverything(t *testing.T) {
	s := newSite(t)
	s.create("upgrade", "true", onHosts(s.hosts), func(a *egov1.Activity) { a.Spec.TTLSecondsAfterFinished = new(int64(2)) })
	operator.Until(t, "everything is gone", func() error {
		list := &egov1.ActivityList{}
		if err := env.Client.List(t.Context(), list, client.InNamespace(s.ns)); err != nil || len(list.Items) > 0 {
			return fmt.Errorf("there are %d Activities: %w", len(list.Items), err)
		}
		return nil
	})
}
