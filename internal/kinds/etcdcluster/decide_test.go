// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	policyv1ac "k8s.io/client-go/applyconfigurations/policy/v1"
	clocktesting "k8s.io/utils/clock/testing"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/etcd"
	"github.com/opcrew/opcrew/internal/helper/etcdgate"
	"github.com/opcrew/opcrew/internal/kit/ensure"
)

func TestTheNextStepIsTheFirstRungOnWhichThereIsSomethingToDo(t *testing.T) {
	plain, claims := newCluster(), newCluster(withClaims)
	n := func(serial int64) string { return memberName(plain, serial) }
	for name, test := range map[string]struct {
		world world
		want  string
	}{
		"all is well":         {observed(plain, 3), "nothing"},
		"all is well, claims": {observed(claims, 3), "nothing"},
		"more are asked for":  {observed(plain, 3).asks(sized(5)), "add member " + n(3)},
		"one was added":       {observed(plain, 3).asks(sized(4)).joining(3, false), "wait for " + n(3) + " to join: its pod is being made"},
		"one has joined":      {observed(plain, 3).asks(sized(4)).with(3, true), "promote member " + n(3)},
		"it votes":            {observed(plain, 4).hidden(3).asks(sized(4)), "establish 1"},
		"one cannot join":     {observed(plain, 3).asks(sized(4)).joining(3, true).silent(3, time.Hour), "remove member " + n(3)},
		"while one joins no other is added, whoever is well": {observed(plain, 3).asks(sized(5)).joining(3, true), "wait for " + n(3) + " to join: it is starting"},
		"a kubelet has not said yet that the last is ready":  {observed(plain, 4).unprobed(3).asks(sized(5)), "add member " + n(4)},
		"nor before one is taken away":                       {observed(plain, 5).unprobed(3).asks(sized(3)), "wait for " + n(3) + " to be healthy: container etcd runs, and its readiness probe does not succeed yet"},
		"nor before one is stopped":                          {observed(plain, 3).unprobed(2).asks(versioned("3.5.36")), "wait for " + n(2) + " to be healthy: container etcd runs, and its readiness probe does not succeed yet"},
		"fewer are asked for":                                {observed(plain, 5).asks(sized(3)), "remove member " + n(4)},
		"fewer, and the newest leads":                        {leads(observed(plain, 3), 2).asks(sized(1)), "move the lead to " + n(0)},
		"fewer, and one is not well":                         {observed(plain, 5).down(1).asks(sized(3)), "wait for " + n(1) + " to be healthy: container etcd runs, and its readiness probe does not succeed yet"},
		"a pod is gone, emptyDir":                            {observed(plain, 3).without(1), "remove member " + n(1)},
		"a pod is gone, claim":                               {observed(claims, 3).without(1), "wait for " + n(1) + " to be healthy: its pod is being made"},
		"claim and pod are gone":                             {observed(claims, 3).without(1).unclaimed(1), "remove member " + n(1)},
		"an empty volume":                                    {observed(claims, 3).refused(1, etcdgate.VolumeLost), "remove member " + n(1)},
		"a volume of somebody else":                          {observed(claims, 3).refused(1, etcdgate.VolumeForeign), "remove member " + n(1)},
		"etcd ended by itself":                               {observed(claims, 3).refused(1, etcdgate.EtcdEnded), "wait for " + n(1) + " to be healthy: container etcd crashes again and again, 1 times so far (last: Error, exit code 3: {\"reason\":\"EtcdEnded\",\"message\":\"no log in /var/etcd/data\"})"},
		"two of three are gone":                              {observed(plain, 3).without(1, 2), "wait for an answer of the cluster"},
		"a lost one goes before growth":                      {observed(plain, 3).without(1).asks(sized(5)), "remove member " + n(1)},
		"after it was taken out":                             {observed(plain, 2), "add member " + n(3)},
		"a node is silent for a while":                       {observed(claims, 3).down(1).silent(1, time.Minute), "wait for " + n(1) + " to be healthy: container etcd runs, and its readiness probe does not succeed yet"},
		"a node is silent for too long":                      {observed(claims, 3).down(1).silent(1, 5*time.Minute), "remove member " + n(1)},
		"its node is silent, and it answers":                 {observed(claims, 3).silent(1, time.Hour), "nothing"},
		"a voter is lost and another is down":                {observed(claims, 4).without(1).unclaimed(1).down(2), "wait for an answer of the cluster"},
		"another version":                                    {observed(plain, 3).asks(versioned("3.5.36")), "change " + n(1) + " to 3.5.36"},
		"the next minor":                                     {observed(plain, 3).asks(versioned("3.6.16")), "change " + n(1) + " to 3.6.16"},
		"over two minors":                                    {observed(plain, 3).asks(versioned("3.7.3")), "change " + n(1) + " to 3.6.16"},
		"the next minor, and the last is not agreed on":      {observed(plain, 3).asks(versioned("3.6.16")).speaking("3.4.0"), "wait for the members to agree on version 3.5 (the cluster still speaks 3.4)"},
		"and a member of it cannot be asked":                 {observed(plain, 3).asks(versioned("3.6.16")).speaking("3.4.0").mute("answers 421"), "wait for the members to agree on version 3.5 (the cluster still speaks 3.4): answers 421"},
		"nobody has told what is":                            {observed(plain, 3).asks(versioned("3.6.16")).speaking(""), "wait for the cluster to say on which version its members have agreed"},
		"nobody has, and why":                                {observed(plain, 3).asks(versioned("3.6.16")).speaking("").mute("answers 421"), "wait for the cluster to say on which version its members have agreed: answers 421"},
		"another patch needs no agreement":                   {observed(plain, 3).asks(versioned("3.5.36")).speaking("3.4.0"), "change " + n(1) + " to 3.5.36"},
		"nor does going back while mixed":                    {observed(plain, 3).running(1, "3.6.16", "3.6.16").speaking(""), "change " + n(1) + " to 3.5.35"},
		"nor what is no version":                             {observed(claims, 3).asks(withEnv("A", "1")).speaking(""), "make " + n(1) + " anew"},
		"one minor is entered, and it is agreed on":          {entered("3.6.16").asks(versioned("3.7.3"), formedOn("3.6.16")), "change " + n(1) + " to 3.7.3"},
		"and it is not":                                      {entered("3.6.16").asks(versioned("3.7.3")).speaking("3.5.0"), "wait for the members to agree on version 3.6 (the cluster still speaks 3.5)"},
		"one has the next, and the others are to follow":     {entered("3.6.16").running(1, "3.7.3", "3.7.3").asks(versioned("3.7.3"), formedOn("3.6.0")), "change " + n(2) + " to 3.7.3"},
		"3.4, as it was before anybody had met":              {entered("3.4.44").asks(versioned("3.5.35")).speaking("3.0.0"), "wait for the members to agree on version 3.4 (the cluster still speaks 3.0)"},
		"3.4, when all have met":                             {entered("3.4.44").asks(versioned("3.5.35")).speaking("3.4.0"), "change " + n(1) + " to 3.5.35"},
		"one is on its way":                                  {observed(plain, 3).asks(versioned("3.6.16")).running(1, "3.5.35", "3.6.16"), "wait for " + n(1) + " to be healthy"},
		"one has it":                                         {observed(plain, 3).asks(versioned("3.6.16")).running(1, "3.6.16", "3.6.16"), "change " + n(2) + " to 3.6.16"},
		"the leader is the last":                             {observed(plain, 3).asks(versioned("3.6.16")).running(1, "3.6.16", "3.6.16").running(2, "3.6.16", "3.6.16"), "move the lead to " + n(1)},
		"it has handed over":                                 {leads(observed(plain, 3).asks(versioned("3.6.16")).running(1, "3.6.16", "3.6.16").running(2, "3.6.16", "3.6.16"), 1), "change " + n(0) + " to 3.6.16"},
		"back while mixed":                                   {observed(plain, 3).running(1, "3.6.16", "3.6.16"), "change " + n(1) + " to 3.5.35"},
		"a bad image is taken back":                          {observed(plain, 3).unpulled(1).running(1, "", "3.5.99"), "change " + n(1) + " to 3.5.35"},
		// Regressions: what the only member, or a majority, was changed to could not be corrected.
		"a bad image of the only member is taken back": {observed(newCluster(sized(1)), 1).unpulled(0).running(0, "", "3.5.99"), "change " + n(0) + " to 3.5.35"},
		"a bad field of a majority is taken back":      {observed(claims, 3).asks(withEnv("A", "bad")).unpulled(1, 2), "make " + n(1) + " anew"},
		// Regression: a member that merely did not answer once was given the bad version too.
		"a bad version goes no further":         {observed(plain, 5).asks(versioned("3.5.99")).unpulled(1).running(1, "", "3.5.99").down(2), "wait for " + n(1) + " to be healthy: container etcd: ImagePullBackOff: not found"},
		"nor to a second one that cannot start": {observed(plain, 5).asks(versioned("3.5.99")).unpulled(1, 2).running(1, "", "3.5.99"), "wait for " + n(1) + " to be healthy: container etcd: ImagePullBackOff: not found"},
		// Regressions: a member that could not join froze all else.
		"one is lost while another joins": {observed(plain, 5).without(1).asks(sized(6)).joining(5, true), "remove member " + n(1)},
		"it is not wanted any more":       {observed(plain, 3).joining(3, true), "remove member " + n(3)},
		"it was made for an earlier spec": {observed(plain, 3).joining(3, true).asks(sized(4), withEnv("A", "1")), "remove member " + n(3)},
		// Regression: the silent member went from 3.5 to 3.7.
		"over two minors, and the last is silent": {observed(plain, 3).asks(versioned("3.7.3")).running(1, "3.6.16", "3.6.16").running(2, "3.6.16", "3.6.16").unpulled(0), "change " + n(0) + " to 3.6.16"},
		"a downgrade":                       {observed(plain, 3).asks(versioned("3.4.44")), "nothing"},
		"a version that is none":            {observed(plain, 3).asks(versioned("latest"), sized(5)), "nothing"},
		"another field, claims":             {observed(claims, 3).asks(withEnv("A", "1")), "make " + n(1) + " anew"},
		"another field, emptyDir":           {observed(plain, 3).asks(withEnv("A", "1")), "add member " + n(3)},
		"its successor is there":            {observed(plain, 3).asks(withEnv("A", "1")).with(3, false), "remove member " + n(2)},
		"another field, one of one":         {observed(newCluster(withClaims, sized(1)), 1).asks(withEnv("A", "1")), "make " + n(0) + " anew"},
		"hibernate":                         {observed(claims, 3).asks(hibernates), "nothing"},
		"hibernate is nothing for emptyDir": {observed(plain, 3).asks(hibernates, sized(5)), "add member " + n(3)},
		"nobody has looked yet":             {unseen(observed(plain, 3).asks(sized(5))), "wait for an answer of the cluster"},
		"a step was taken just now":         {stale(observed(plain, 3).asks(sized(5))), "wait for the next look at the cluster"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := test.world.decide(test.world.c).says(); got != test.want {
				t.Errorf("expected the operator to %s, it is to %s", test.want, got)
			}
		})
	}
}

// Regression: 3.7 could not read what 3.5 had written, and the first member that ran it ended for ever.
func TestMembersGoTo37WhenAllHaveASnapshotFromAfter35(t *testing.T) {
	n := func(serial int64) string { return memberName(newCluster(), serial) }
	waits := func(words string) string {
		return "wait for the members to write a snapshot that etcd 3.7 can start from" + words
	}
	const passes = "have the members write a snapshot"
	noted := func(options ...option) world {
		return entered("3.6.16", options...).asks(versioned("3.7.3"), formedOn("3.5.35"), notedAt(50))
	}
	count := func(n string) option { return withEnv("ETCD_SNAPSHOT_COUNT", n) }
	elsewhere := func(c *etcdv1beta2.EtcdCluster) {
		policy(c).EtcdEnv = []etcdv1beta2.EnvVar{{Name: "ETCD_SNAPSHOT_COUNT", ValueFrom: &corev1.EnvVarSource{}}}
	}
	tooMany := "wait for ETCD_SNAPSHOT_COUNT in spec.pod.etcdEnv to be 200000 or less: the members may hold entries of etcd before 3.6, which 3.7.3 cannot read, and write a snapshot only after that many more"
	for name, test := range map[string]struct {
		world   world
		want    string
		entries uint64
	}{
		"nothing is noted yet":                   {entered("3.6.16").asks(versioned("3.7.3"), formedOn("3.5.35")), waits(""), 0},
		"nobody knows what it was begun with":    {entered("3.6.16").asks(versioned("3.7.3")), waits(""), 0},
		"it is noted":                            {noted().applied(50, 50, 50), passes, 10_700},
		"it is noted, and some have passed":      {noted().applied(6_250, 6_200, 6_250), passes, 4_500},
		"the last one is behind":                 {noted().applied(10_750, 10_249, 10_750), waits(" (90% of the way)"), 0},
		"all have it":                            {noted().applied(10_750, 10_250, 10_750), "change " + n(1) + " to 3.7.3", 0},
		"clients wrote enough":                   {noted().applied(99_999, 99_998, 99_999), "change " + n(1) + " to 3.7.3", 0},
		"one of them has 3.7":                    {noted().applied(10_750, 10_750, 10_750).running(1, "3.7.3", "3.7.3"), "change " + n(2) + " to 3.7.3", 0},
		"a smaller count":                        {noted(count("100")).applied(351, 351, 351), "change " + n(1) + " to 3.7.3", 0},
		"a count that etcd takes for none":       {noted(count("0")).applied(351, 351, 351), passes, 10_399},
		"the count is changed":                   {noted(withClaims).applied(60, 60, 60).asks(count("10")), "make " + n(1) + " anew", 0},
		"the count is changed, emptyDir":         {noted().applied(99_999, 99_999, 99_999).asks(count("100000")), "add member " + n(3), 0},
		"too large a count":                      {noted(count("200001")).applied(50, 50, 50), tooMany, 0},
		"too large a count, and clients wrote":   {noted(count("200001")).applied(300_000, 300_000, 300_000), "change " + n(1) + " to 3.7.3", 0},
		"a count from elsewhere":                 {noted(elsewhere).applied(99_999, 99_999, 99_999), tooMany, 0},
		"one does not start":                     {noted().applied(50, 50, 50).unpulled(1), "wait for " + n(1) + " to be healthy: container etcd: ImagePullBackOff: not found", 0},
		"one does not start, and another is 3.7": {noted().applied(50, 50, 50).running(2, "3.7.3", "3.7.3").unpulled(1), "change " + n(1) + " to 3.7.3", 0},
		"one does not start in a bad 3.7":        {noted().applied(50, 50, 50).running(1, "", "3.7.99").unpulled(1), "change " + n(1) + " to 3.7.3", 0},
		"3.6 needs nothing":                      {noted().applied(50, 50, 50).asks(versioned("3.6.17")), "change " + n(1) + " to 3.6.17", 0},
	} {
		t.Run(name, func(t *testing.T) {
			d := test.world.decide(test.world.c)
			if got := d.says(); got != test.want {
				t.Errorf("expected the operator to %s, it is to %s", test.want, got)
			}
			if got := passed(t, d); got != test.entries {
				t.Errorf("expected %d entries to be passed, got %d", test.entries, got)
			}
		})
	}
}

// passes counts the entries that it is asked to pass.
type passes struct {
	etcd.Store
	entries uint64
}

func (p *passes) Advance(_ context.Context, entries uint64) error {
	p.entries = entries
	return nil
}

func passed(t *testing.T, d decision) uint64 {
	t.Helper()
	store := &passes{}
	if d.step != nil && d.step.reason == "" {
		if err := d.step.do(t.Context(), store); err != nil {
			t.Fatal(err)
		}
	}
	return store.entries
}

func formedOn(version string) option {
	return func(c *etcdv1beta2.EtcdCluster) { c.Status.FormedWith = version }
}

func notedAt(index int64) option {
	return func(c *etcdv1beta2.EtcdCluster) { c.Status.SnapshotFrom = index }
}

// entered is a cluster of which all members run a version.
func entered(version string, options ...option) world {
	runs := func(c *etcdv1beta2.EtcdCluster) { c.Status.CurrentVersion = version }
	return observed(newCluster(append(options, versioned(version), runs)...), 3)
}

func leads(w world, serial int64) world {
	for key, status := range w.view.Status {
		status.Leader, status.RaftTerm = id(serial), 9
		w.view.Status[key] = status
	}
	return w
}

func unseen(w world) world {
	w.view = etcd.View{}
	return w
}

func stale(w world) world {
	w.view.Stale = true
	return w
}

// Regression: a member that came back waited for the next look, which may be seconds away.
func TestWhatAKubeletSaysOfAMemberHasTheMembersLookedAt(t *testing.T) {
	w := observed(newCluster(), 3)
	pod := w.pods[memberName(w.c, 1)]
	for since, want := range map[time.Duration]bool{-2 * time.Second: false, 0: true, time.Second: true} {
		pod.Status.Conditions[0].LastTransitionTime = metav1.NewTime(noon.Add(since))
		if got := w.outrun(); got != want {
			t.Errorf("expected the members to be looked at for what was said %s after the last look: %v, got %v", since, want, got)
		}
	}
}

// Before the cluster counts as formed the operator may make its members anew.
func TestClientsComeToVotersOfAFormedClusterOnly(t *testing.T) {
	for name, test := range map[string]struct {
		c               *etcdv1beta2.EtcdCluster
		started, learns bool
		want            string
	}{
		"a voter":                       {newCluster(), true, false, isVoter},
		"a voter that has not run yet":  {newCluster(), false, false, ""},
		"a learner":                     {newCluster(), true, true, ""},
		"before the cluster was formed": {newCluster(unformed, withLabel(voterLabel, isVoter)), true, false, ""},
	} {
		if got := podLabels(test.c, member{name: "m", started: test.started, learner: test.learns})[voterLabel]; got != test.want {
			t.Errorf("%s: expected %q for the label that clients are led by, got %q", name, test.want, got)
		}
	}
}

// Regression: each restart of the operator lowered the budget for a moment, as the status knew of
// fewer voters than there were.
func TestTheDisruptionBudgetIsNotChangedBeforeTheMembersWereLookedAt(t *testing.T) {
	for name, test := range map[string]struct {
		world    world
		declared bool
	}{
		"looked at":               {observed(newCluster(), 3), true},
		"not yet":                 {unseen(observed(newCluster(), 3)), false},
		"a step was taken":        {stale(observed(newCluster(), 3)), false},
		"before the cluster is":   {unseen(observed(newCluster(unformed), 3)), true},
		"the quorum does not say": {observed(newCluster(), 3).down(0, 1), false},
	} {
		d := test.world.decide(test.world.c)
		declared := slices.ContainsFunc(test.world.children(test.world.c, d), func(child ensure.Child) bool {
			_, is := child.Object.(*policyv1ac.PodDisruptionBudgetApplyConfiguration)
			return is
		})
		if declared != test.declared || test.world.stays(test.world.c, d)(&policyv1.PodDisruptionBudget{}) == test.declared {
			t.Errorf("%s: expected the budget to be declared (%v), or else to stay", name, test.declared)
		}
	}
}

// Regression: a claim came into the cache after the facts had been read from it. Nobody had declared
// it, and it was deleted under a member that was well.
func TestWhatBelongsToAMemberIsNeverDeletedForNotHavingBeenSeen(t *testing.T) {
	w := observed(newCluster(withClaims), 3)
	name := memberName(w.c, 1)
	pod, claim := w.pods[name], w.claims[name]
	w = w.without(1).unclaimed(1)
	w.view = observed(w.c, 3).view
	if d := w.decide(w.c); !w.stays(w.c, d)(pod) || !w.stays(w.c, d)(claim) {
		t.Error("expected pod and claim of a member to stay")
	}
	stranger := claim.DeepCopy()
	stranger.Name = memberName(w.c, 7)
	if w.stays(w.c, w.decide(w.c))(stranger) {
		t.Error("expected the claim of a member that was taken out to go")
	}
}

// Regression: the status was older than the last changes, and none whom it named was left to ask.
func TestWhoeverHasAPodIsAskedEvenIfTheStatusDoesNotNameHim(t *testing.T) {
	w := unseen(observed(newCluster(), 3))
	w.c.Status.Membership = []etcdv1beta2.MemberIdentity{{ID: "1", Name: "example-gone"}}
	if got := w.endpoints(w.c); len(got) != 4 {
		t.Errorf("expected the member of the status and all that have pods to be asked, got %q", got)
	}
}

// Regression: another cluster answered at an address that had been a member's.
func TestWhatAnotherClusterSaysIsNoAnswer(t *testing.T) {
	c := newCluster(withClaims)
	w := observed(c, 3)
	w.view.ClusterID = 0xbad
	w.view = ownView(c, w.view)
	for _, m := range w.view.Members {
		c.Status.Membership = append(c.Status.Membership, etcdv1beta2.MemberIdentity{ID: "1", Name: m.Name})
	}
	d := w.decide(c)
	claim := &corev1.PersistentVolumeClaim{}
	claim.Name = memberName(c, 1)
	if d.step != nil || !w.stays(c, d)(claim) || w.view.Err == nil {
		t.Errorf("expected nothing to be done and every claim to stay, got %s", d.says())
	}
}

// Regression: a cluster that was made anew under its name was formed by what was known of the old one.
func TestAClusterIsFormedByItsOwnFirstMembersOnly(t *testing.T) {
	old := newCluster(unformed)
	w := observed(old, 3)
	now := newCluster(unformed, func(c *etcdv1beta2.EtcdCluster) { c.UID = "u-2" })
	if !w.formed(old) || w.formed(now) {
		t.Errorf("expected the members to form their cluster (%v), and no later one of its name (%v)", w.formed(old), w.formed(now))
	}
}

func TestTheBudgetKeepsTheQuorumOfThoseWhoVoteAndOfThoseWhoShall(t *testing.T) {
	for name, test := range map[string]struct {
		world world
		want  int
	}{
		"as asked":                    {observed(newCluster(), 3), 2},
		"it grows":                    {observed(newCluster(), 3).asks(sized(5)), 3},
		"it shrinks, and has not yet": {observed(newCluster(), 5).asks(sized(3)), 3},
		"to one, and has not yet":     {observed(newCluster(), 3).asks(sized(1)), 2},
	} {
		d := test.world.decide(test.world.c)
		if got := disruptionBudget(test.world.c, d.voters()).Spec.MinAvailable.IntValue(); got != test.want {
			t.Errorf("%s: expected at least %d pods to stay, got %d", name, test.want, got)
		}
	}
}

func TestBeforeTheClusterIsFormedPodsMayBeginAgain(t *testing.T) {
	c := newCluster(unformed)
	w := observed(c, 0)
	if d := w.decide(c); len(d.members) != 3 || !w.wantsPod(c, d, d.members[0]) {
		t.Errorf("expected three first members with pods, got %d", len(d.members))
	}
	for _, m := range w.decide(c).members {
		if got := w.startOf(c, m); !strings.HasPrefix(got, "bootstrap ") {
			t.Errorf("expected a first member to be allowed to begin on an empty volume, got %q", got)
		}
	}
	w = w.with(0, false).with(1, false)
	if d := w.asks(sized(5)).decide(c); len(d.members) != 3 {
		t.Errorf("expected the first members to stay three until they have formed the cluster, got %d", len(d.members))
	}
}

func TestOnceFormedNobodyMayStartOnAnEmptyVolumeButWhoJoins(t *testing.T) {
	c := newCluster()
	w := observed(c, 3)
	for _, pod := range w.pods {
		pod.Annotations[startAnnotation] = "bootstrap 0000000000000100"
	}
	if d := w.decide(c); len(d.establish) != 3 {
		t.Errorf("expected all three first members to be established, got %d", len(d.establish))
	}
	w = observed(c, 3).joining(3, false)
	d := w.decide(c)
	for _, m := range d.members {
		got, _, _ := strings.Cut(w.startOf(c, m), " ")
		if want := map[bool]string{true: "established", false: "join"}[m.started]; got != want {
			t.Errorf("member %d: expected %q, got %q", m.serial, want, got)
		}
	}
}

func TestThePodOfALostMemberIsNotMadeAnew(t *testing.T) {
	for name, w := range map[string]world{
		"its emptyDir went with it":     observed(newCluster(), 3).without(1),
		"its claim went too":            observed(newCluster(withClaims), 3).without(1).unclaimed(1),
		"and the quorum with both":      observed(newCluster(withClaims), 3).without(1, 2).unclaimed(1, 2),
		"emptyDir, and the quorum went": observed(newCluster(), 3).without(1, 2),
	} {
		d := w.decide(w.c)
		for _, m := range d.members {
			if m.serial == 1 && w.wantsPod(w.c, d, m) {
				t.Errorf("%s: expected no pod for a member that has lost its data", name)
			}
		}
	}
}

func TestAllPodsOfACollapsedClusterWithClaimsComeBackAsTheyWere(t *testing.T) {
	w := observed(newCluster(withClaims), 3).without(0, 1, 2)
	d := w.decide(w.c)
	for _, m := range d.members {
		if !w.wantsPod(w.c, d, m) || !strings.HasPrefix(w.startOf(w.c, m), "established ") {
			t.Errorf("expected member %d to come back on its volume, and on nothing else", m.serial)
		}
	}
	if len(d.members) != 3 {
		t.Errorf("expected 3 members, got %d", len(d.members))
	}
}

func TestAnOldCacheDoesNotTakeAwayWhatJoinsNow(t *testing.T) {
	w := observed(newCluster(), 3)
	stays := w.stays(w.c, w.decide(w.c))
	pod := &corev1.Pod{}
	pod.Name = memberName(w.c, 7)
	pod.CreationTimestamp.Time = noon.Add(time.Second)
	if !stays(pod) {
		t.Error("expected a pod that is newer than the look at the cluster to stay")
	}
	pod.CreationTimestamp.Time = noon.Add(-time.Minute)
	if stays(pod) {
		t.Error("expected the pod of a member that was taken out to go")
	}
	blind := unseen(w)
	if stays := blind.stays(w.c, blind.decide(w.c)); !stays(pod) {
		t.Error("expected every pod to stay as long as the cluster has not said who its members are")
	}
}

// Regression: a cluster that was made anew unseen was taken for another one at every look, and so
// was never formed.
func TestAClusterIsAnotherOnceOnly(t *testing.T) {
	r := &reconciler{prober: etcd.NewProber(etcd.Dial, clocktesting.NewFakeClock(noon), nil)}
	key := types.NamespacedName{Namespace: "shop", Name: "example"}
	old, now := newCluster(unformed), newCluster(unformed, func(c *etcdv1beta2.EtcdCluster) { c.UID = "u-2" })
	r.renew(key, old)
	r.born.begunWith(key, 1)
	for range 3 {
		r.renew(key, now)
		if got := r.born.begunWith(key, 3); got != 3 {
			t.Errorf("expected the new cluster to begin with its own 3 members, got %d", got)
		}
	}
	r.renew(key, now)
	if got := r.born.begunWith(key, 5); got != 3 {
		t.Errorf("expected what is known of the new cluster to stay known, got %d members", got)
	}
}

// Regression: pods that were all gone, as after hibernation, came back as what was asked for.
func TestAClusterWithoutPodsComesBackAsItWasAndGoesOnFromThere(t *testing.T) {
	for name, test := range map[string]struct {
		world        world
		want, target string
	}{
		"as it was":           {observed(newCluster(withClaims), 3), "3.5.35", ""},
		"another patch":       {observed(newCluster(withClaims), 3).asks(versioned("3.5.36")), "3.5.35", "3.5.36"},
		"over two minors":     {observed(newCluster(withClaims), 3).asks(versioned("3.7.3")), "3.5.35", "3.6.16"},
		"after the next":      {observed(newCluster(withClaims), 3).asks(versioned("3.7.3")).running(0, "3.6.16", "3.6.16"), "3.5.35", "3.6.16"},
		"and it cannot be so": {observed(newCluster(withClaims), 3).asks(versioned("3.4.44")), "3.5.35", ""},
	} {
		w := test.world.without(0, 1, 2)
		if name == "after the next" {
			w = test.world.without(1, 2)
		}
		d := w.decide(w.c)
		if got := w.versionFor(w.c, d); got != test.want || d.target != test.target {
			t.Errorf("%s: expected pods of %s, to go on to %q, got %s and %q", name, test.want, test.target, got, d.target)
		}
	}
}
