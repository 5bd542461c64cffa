// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/opcrew/opcrew/internal/workload"
	"github.com/opcrew/opcrew/test/e2e/etcd"
)

// rounds is the number of times that the test measures each duration. It compares the medians.
const rounds = 3

// etcdConnected is how long etcd requires members to be connected before it allows a membership change.
const etcdConnected = 6 * time.Second

// etcdTimes contains the times of one round. floor is the time of a StatefulSet without an operator.
type etcdTimes struct {
	floor, floorAgain                      time.Duration
	create, grow, shrink, deleted, upgrade time.Duration
	writes                                 int // number of writes of the operator while it creates the cluster
}

// TestTimesOfAnEtcdClusterBesideTheFloor measures an EtcdCluster and a StatefulSet without an operator in the same run,
// so that the load of the machine affects both equally.
func TestTimesOfAnEtcdClusterBesideTheFloor(t *testing.T) {
	for storage, how := range storages() {
		t.Run(storage, func(t *testing.T) {
			claims := storage == "claims"
			var all []etcdTimes
			for i := range rounds {
				all = append(all, newEtcdTest(t, etcd.V36, etcd.V37).measure(t, i, how))
			}
			middle := func(of func(etcdTimes) time.Duration) time.Duration {
				var out []time.Duration
				for _, one := range all {
					out = append(out, of(one))
				}
				slices.Sort(out)
				return out[len(out)/2].Round(10 * time.Millisecond)
			}
			floor := middle(func(o etcdTimes) time.Duration { return o.floor })
			again := middle(func(o etcdTimes) time.Duration { return o.floorAgain })
			grow, deleted, writes := 5*time.Second, 4*time.Second, 15
			if claims {
				// The volumes of new pods are created one after the other, which takes as long as for the StatefulSet.
				// So these limits depend on the measured times of the StatefulSet (floor, again).
				grow, deleted, writes = 2*floor, max(2500*time.Millisecond, again*5/4), 18
			}
			for _, row := range []struct {
				what  string
				of    func(etcdTimes) time.Duration
				limit time.Duration
			}{
				{"three voters", func(o etcdTimes) time.Duration { return o.create }, floor * 3 / 2},
				{"3 to 5", func(o etcdTimes) time.Duration { return o.grow }, grow},
				{"5 to 3", func(o etcdTimes) time.Duration { return o.shrink }, 3 * time.Second},
				{"a deleted pod", func(o etcdTimes) time.Duration { return o.deleted }, deleted},
				{"an upgrade of three", func(o etcdTimes) time.Duration { return o.upgrade }, 15 * time.Second},
			} {
				took := middle(row.of)
				t.Logf("%-20s %7s, %.2f of the floor of %s (wanted: %s)", row.what, took, float64(took)/float64(floor), floor, row.limit)
				if took > row.limit {
					t.Errorf("%s took %s, wanted: %s", row.what, took, row.limit)
				}
			}
			t.Logf("a deleted pod of the floor: %s", again)
			counted := []int{all[0].writes, all[1].writes, all[2].writes}
			t.Logf("writes of the operator for three voters: %v", counted)
			if slices.Max(counted) > writes {
				t.Errorf("expected %d writes at most, got %v", writes, counted)
			}
		})
	}
}

// measure measures the times of the StatefulSet, and then those of the EtcdCluster.
func (e *etcdTest) measure(t *testing.T, round int, how map[string]any) etcdTimes {
	t.Helper()
	_, claims := how["pod"]
	out := etcdTimes{}
	out.floor, out.floorAgain = e.etcdFloor(t, fmt.Sprint("floor", round), etcd.V36, claims)
	audit := e.audit(t)
	mark := audit.Mark(t)
	out.create = e.timed(t, 3, etcd.V36, nil, func() {
		if err := e.Create(t.Context(), e.object(asked(3, etcd.V36, how))); err != nil {
			t.Fatal(err)
		}
	})
	e.await(t, 3, etcd.V36)
	e.wantQuietBy(t, dataUser, time.Second)
	writes := audit.Since(t, mark).By(dataUser).Writes().Counted()
	t.Logf("writes of the operator:\n%s", writes)
	out.writes = len(writes)
	time.Sleep(etcdConnected)
	out.grow = e.timed(t, 5, etcd.V36, nil, func() { e.scale(t, 5) })
	time.Sleep(etcdConnected)
	out.shrink = e.timed(t, 3, etcd.V36, nil, func() { e.scale(t, 3) })
	e.await(t, 3, etcd.V36)
	victim := e.pods(t)[0]
	out.deleted = e.timed(t, 3, etcd.V36, &victim, func() {
		if err := e.Delete(t.Context(), victim.DeepCopy()); err != nil {
			t.Fatal(err)
		}
	})
	out.upgrade = e.timed(t, 3, etcd.V37, nil, func() { e.edit(t, fmt.Sprintf(`{"version":%q}`, etcd.V37)) })
	e.remove(t)
	t.Logf("round %d: %+v", round, out)
	return out
}

// timed calls act, and returns the time until the given number of members with the given version is ready. lost, if not
// nil, is a pod that must also be gone by then.
func (e *etcdTest) timed(t *testing.T, size int, version string, lost *corev1.Pod, act func()) time.Duration {
	t.Helper()
	begin := time.Now()
	act()
	return timeTo(t, fmt.Sprintf("%d members with version %s are ready", size, version), begin, func() bool {
		s, generation := e.status(t)
		pods := e.pods(t)
		return meta.IsStatusConditionTrue(s.Conditions, "Ready") && s.ObservedGeneration == generation && s.Size == size &&
			s.CurrentVersion == version && slices.Equal(s.Members.Ready, namesOf(pods)) && len(pods) == size &&
			!slices.ContainsFunc(pods, func(p corev1.Pod) bool { return !workload.Ready(&p) || lost != nil && p.UID == lost.UID })
	})
}

func namesOf(pods []corev1.Pod) []string {
	var out []string
	for _, pod := range pods {
		out = append(out, pod.Name)
	}
	return out
}
