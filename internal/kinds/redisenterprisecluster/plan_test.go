// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redisenterprisecluster

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/clustertest"
	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/desired"
	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/observed"
	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/tuning"
	"github.com/opcrew/opcrew/internal/stores/redis"
)

func TestSlotsAreMovedAtTheRateThatIsAskedFor(t *testing.T) {
	for spec, want := range map[string]int64{"": 0, "slotMigrationRate: 50 Mi": 50 << 20, "slotMigrationRate: 1M": 1_000_000} {
		s := running(3, clustertest.With(spec))
		if got := s.decide().Ring.Rate; got != want {
			t.Errorf("%q: expected %d bytes a second, got %d", spec, want, got)
		}
	}
}

func TestAServerWhoseContainerDoesNotRunHasEnded(t *testing.T) {
	s := running(3)
	s.pod(1).Status.ContainerStatuses[1].State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}}
	pods := s.decide().Ring.Pods
	if ended := pods[1].Ended; !ended[redis.Guest] || ended[redis.Home] {
		t.Errorf("expected the guest server of pod 1 to have ended, and its home not, got %v", ended)
	}
	if ended := pods[0].Ended; ended[redis.Guest] || ended[redis.Home] {
		t.Errorf("expected none of pod 0 to have ended, got %v", ended)
	}
}

func TestNothingIsDoneToAClusterThatIsAsItShallBe(t *testing.T) {
	for _, n := range []int{1, 2, 3, 5} {
		plan := running(n).plan()
		if plan.Step != nil || plan.Again != 0 {
			t.Errorf("%d pods: expected rest, got step %v and another look after %s", n, plan.Step, plan.Again)
		}
	}
}

func TestPodsAreRestartedOneByOneAndTheirPrimariesHandOverFirst(t *testing.T) {
	for name, test := range map[string]struct {
		scene *scene
		do    func(*scene)
		want  string
	}{
		"the last one hands over":                    {scene: running(3).changed(0, 1, 2), want: "have 10.0.0.1:6380 become primary"},
		"and is restarted then":                      {scene: running(3).changed(0, 1, 2), do: func(s *scene) { s.swap("g0", "h2") }, want: "restart pod example-2"},
		"one that came back leads again":             {scene: running(3).changed(0, 1), do: func(s *scene) { s.swap("g0", "h2") }, want: "have 10.0.0.3:6379 become primary"},
		"the next one hands over after it":           {scene: running(3).changed(0, 1), want: "have 10.0.0.3:6380 become primary"},
		"none while another is away":                 {scene: running(3).changed(0, 1), do: func(s *scene) { s.swap("g0", "h2"); s.silence(2) }},
		"nor while one catches up":                   {scene: running(3).changed(0), do: func(s *scene) { s.procs["g1"].LinkUp = false }},
		"nor before all have their settings":         {scene: running(3).changed(2), do: func(s *scene) { s.swap("g0", "h2"); delete(s.known.Tuned, "run-h0") }, want: "give servers"},
		"nor while the last refusal is new":          {scene: running(3).changed(2), do: func(s *scene) { s.known.RetryAt = clustertest.Noon.Add(time.Second) }},
		"nor by a new process after a lost election": {scene: running(3).changed(2), do: func(s *scene) { s.known.Since = clustertest.Noon; s.epoch(99) }},
		"but later by one": {
			scene: running(3).changed(2), do: func(s *scene) { s.known.Since = clustertest.Noon.Add(-25 * time.Second); s.epoch(99) }, want: "have 10.0.0.1:6380 become primary",
		},
		"one that crashes goes at once":     {scene: running(3).changed(0, 1, 2), do: func(s *scene) { s.swap("g1", "h0"); s.crash(0) }, want: "restart pod example-0"},
		"one whose node is silent does not": {scene: running(3).changed(0), do: func(s *scene) { s.swap("g1", "h0"); s.silence(0) }},
		"all of a cluster that never began": {scene: running(3).changed(0, 1, 2), do: func(s *scene) { s.Status.Conditions = nil; s.crash(0, 1, 2) }, want: "restart pod example-0"},
		"none without a volume whose data is nowhere else": {
			scene: running(3).changed(0, 1, 2), do: func(s *scene) { s.crash(0, 1, 2) },
		},
		"but with one":                {scene: running(3, clustertest.With(persistentSpec)).changed(0, 1, 2), do: func(s *scene) { s.crash(0, 1, 2) }, want: "restart pod example-0"},
		"one alone without a volume":  {scene: running(1).changed(0)},
		"one alone with a volume":     {scene: running(1, clustertest.With(persistentSpec)).changed(0), want: "restart pod example-0"},
		"nothing of an earlier look":  {scene: running(3).changed(2), do: func(s *scene) { s.Set.Generation = 7 }},
		"nothing while it hibernates": {scene: running(3, clustertest.With("{hibernate: true, persistentSpec: {enabled: true}}")).changed(2)},
	} {
		t.Run(name, func(t *testing.T) {
			if test.do != nil {
				test.do(test.scene)
			}
			if got := test.scene.step(); test.want == "" && got != "" || !strings.HasPrefix(got, test.want) {
				t.Errorf("expected the step %q, got %q (%+v)", test.want, got, test.scene.decide().Wait)
			}
		})
	}
}

// replicas returns how many pods the declared StatefulSet requests.
func replicas(t *testing.T, s *scene) int32 {
	t.Helper()
	return *s.set(t).Spec.Replicas
}

func wants(n int32) func(*clustertest.Cluster) {
	return func(c *clustertest.Cluster) { c.Spec.Nodes = &n }
}

func TestPodsThatLeaveStayUntilTheyHaveNothing(t *testing.T) {
	leaves := func(do func(*scene)) *scene {
		s := running(4)
		wants(3)(s.Cluster)
		if do != nil {
			do(s)
		}
		return s
	}
	drained := func(s *scene) {
		for i := range 3 {
			s.form(i, 3)
		}
		s.apart = map[string]bool{"h3": true, "g3": true}
		for _, id := range []string{"h3", "g3"} {
			*s.procs[id] = redis.NodeStatus{ID: id, RunID: "run-" + id, Role: redis.Primary, ClusterOK: true}
		}
	}
	asleep := func(s *scene) {
		clustertest.With("{hibernate: true, persistentSpec: {enabled: true}}")(s.Cluster)
		s.volumes(true, "")
	}
	wakes := func(s *scene) {
		s.Set.Spec.Replicas, s.Pods, s.seen = new(int32), map[string]*corev1.Pod{}, false
	}
	for name, test := range map[string]struct {
		scene *scene
		want  int32
	}{
		"with slots": {leaves(nil), 4},
		"not seen, and known to others": {leaves(func(s *scene) {
			drained(s)
			s.silence(3)
			s.ghosts = []redis.Peer{{ID: "h3", Role: redis.Primary}}
		}), 4},
		"away for a moment, with its volume": {leaves(func(s *scene) {
			clustertest.With(persistentSpec)(s.Cluster)
			s.volumes(true, "")
			drained(s)
			s.silence(3)
			delete(s.Pods, "example-3")
			s.ghosts = []redis.Peer{{ID: "h3", Role: redis.Primary}}
		}), 4},
		"not seen, and known to no server": {leaves(func(s *scene) { drained(s); s.silence(3) }), 3},
		"never started": {leaves(func(s *scene) {
			drained(s)
			s.silence(3)
			s.pod(3).Status = corev1.PodStatus{Phase: corev1.PodPending}
		}), 3},
		"never started, while another pod is away": {leaves(func(s *scene) {
			drained(s)
			s.silence(1, 3)
			s.ghosts = []redis.Peer{{ID: "h1", Role: redis.Primary}}
			s.pod(3).Status = corev1.PodStatus{Phase: corev1.PodPending}
		}), 4},
		"gone with all that it had":            {leaves(func(s *scene) { drained(s); s.silence(3); delete(s.Pods, "example-3") }), 3},
		"with nothing":                         {leaves(drained), 3},
		"before there was a cluster":           {leaves(func(s *scene) { s.Status.Conditions = nil; s.silence(0, 1, 2, 3) }), 3},
		"while the StatefulSet is recreated":   {leaves(func(s *scene) { s.Set = nil; s.silence(3) }), 4},
		"in its sleep":                         {leaves(asleep), 0},
		"awake again it drains what there was": {leaves(wakes), 4},
		"more are wanted":                      {func() *scene { s := running(3); wants(5)(s.Cluster); return s }(), 5},
	} {
		t.Run(name, func(t *testing.T) {
			if got := replicas(t, test.scene); got != test.want {
				t.Errorf("expected %d pods, got %d", test.want, got)
			}
		})
	}
}

func TestServersAreTakenForGoneOnceTheyDoNotRunNorAreAboutTo(t *testing.T) {
	newPod := func(do func(*corev1.Pod)) *corev1.Pod {
		s := running(1)
		do(s.pod(0))
		return s.pod(0)
	}
	unplacedFor := func(d time.Duration) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			p.Spec.NodeName, p.CreationTimestamp = "", metav1.NewTime(clustertest.Noon.Add(-d))
		}
	}
	for name, test := range map[string]struct {
		pod                   *corev1.Pod
		withVolume, withoutIt bool
	}{
		"it runs":                  {newPod(func(*corev1.Pod) {}), false, false},
		"it is being deleted":      {newPod(func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{Time: clustertest.Noon} }), false, false},
		"it has ended":             {newPod(func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }), false, true},
		"there is none":            {nil, false, true},
		"it has no node yet":       {newPod(unplacedFor(time.Second)), false, true},
		"it has had none for long": {newPod(unplacedFor(time.Hour)), true, true},
	} {
		t.Run(name, func(t *testing.T) {
			if got := observed.Gone(test.pod, true, clustertest.Noon); got != test.withVolume {
				t.Errorf("with a volume: expected %t, got %t", test.withVolume, got)
			}
			if got := observed.Gone(test.pod, false, clustertest.Noon); got != test.withoutIt {
				t.Errorf("without a volume: expected %t, got %t", test.withoutIt, got)
			}
		})
	}
}

func TestAnOldPasswordIsValidUntilAllServersHaveKnownTheNewOneForAWhile(t *testing.T) {
	old, next := desired.Hash("old"), desired.Hash("new")
	for name, test := range map[string]struct {
		stored []string
		since  time.Time
		want   []string
	}{
		"at first":                        {nil, time.Time{}, []string{next}},
		"a user has changed it":           {[]string{old}, clustertest.Noon.Add(-time.Hour), []string{old, next}},
		"some servers do not know it yet": {[]string{old, next}, time.Time{}, []string{old, next}},
		"clients have yet to switch":      {[]string{old, next}, clustertest.Noon.Add(-59 * time.Second), []string{old, next}},
		"long enough":                     {[]string{old, next}, clustertest.Noon.Add(-time.Minute), []string{next}},
		"it is changed back":              {[]string{next, old}, time.Time{}, []string{next, old}},
	} {
		t.Run(name, func(t *testing.T) {
			s := running(3)
			s.password("new", test.stored...)
			s.known.TunedSince = test.since
			if got := s.accepted(); !slices.Equal(got, test.want) {
				t.Errorf("expected %v, got %v", test.want, got)
			}
		})
	}
}

func TestServersGetWhoMayLogInAndTheirSettingsOncePerStart(t *testing.T) {
	s := running(3, clustertest.With("redisConfig: {maxmemory-policy: allkeys-lru, io-threads: '2'}"))
	text := fmt.Sprint(tuning.For(s.Cluster, s.credentials).Commands)
	for _, want := range []string{"ACL SETUSER default on resetpass #" + desired.Hash("secret"), "ACL SETUSER demo@redislabs.com", " ~* &* +@all -@admin -@dangerous +keys", "CONFIG SET maxmemory-policy allkeys-lru"} {
		if !strings.Contains(text, want) {
			t.Errorf("expected servers to get %q, got %s", want, text)
		}
	}
	if strings.Contains(text, "io-threads") {
		t.Errorf("expected nothing that needs a restart to be sent, got %s", text)
	}
	if got := s.step(); got != "" {
		t.Errorf("expected servers that know it to be left alone, got %q", got)
	}
	s.procs["g1"].RunID = "another"
	if got := s.step(); got != "give servers their settings" {
		t.Errorf("expected a restarted server to get its settings, got %q", got)
	}
}

func TestAPasswordOfTheUsersIsNeitherMadeNorDeclared(t *testing.T) {
	s := running(3, clustertest.With("clusterCredentialSecretName: theirs"))
	s.credentials.External = true
	for _, child := range s.credentials.Children(s.Cluster, s.remaining()) {
		if child.Object.(interface{ GetName() *string }).GetName() == nil || *child.Object.(interface{ GetName() *string }).GetName() != "example-system" {
			t.Errorf("expected our own Secret alone, got %v", child.Object)
		}
	}
	s.credentials.Users.Data["password"] = nil
	if got := s.credentials.Problem(s.Cluster); got != "clusterCredentialSecretName: Secret theirs has no password" {
		t.Errorf("expected a report of what is missing, got %q", got)
	}
	if got := s.accepted(); !slices.Equal(got, []string{desired.Hash("secret")}) {
		t.Errorf("expected the previous passwords to stay valid, got %v", got)
	}
	if redisv1alpha1.DefaultUsername != s.credentials.Username(s.Cluster) {
		t.Errorf("expected the user of their Secret, got %q", s.credentials.Username(s.Cluster))
	}
}

func TestThatAClusterBeginsAgainWithoutItsDataIsReported(t *testing.T) {
	for name, test := range map[string]struct {
		formed bool
		want   []string
	}{
		"a cluster that was one": {true, []string{"StartedOver"}},
		"a new one":              {false, nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := running(3)
			for _, p := range s.procs {
				p.Role, p.PrimaryID, p.LinkUp, p.Slots = redis.Primary, "", false, nil
			}
			if !test.formed {
				s.Status.Conditions = nil
			}
			plan := s.plan()
			var got []string
			for _, event := range plan.Events {
				got = append(got, event.Reason)
			}
			if plan.Step == nil || plan.Step.Name != "assign slots to 3 primaries" || !slices.Equal(got, test.want) {
				t.Errorf("expected slots to be given out and the events %q, got %q and %+v", test.want, got, plan.Step)
			}
		})
	}
}
