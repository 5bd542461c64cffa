// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/clustertest"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
	"github.com/opcrew/opcrew/internal/stores/etcd"
)

// Regression: etcd 3.7 could not read log entries that 3.5 had written, and the first member that ran 3.7 kept
// crashing.
func TestMembersGoTo37WhenAllHaveASnapshotFromAfter35(t *testing.T) {
	n := func(serial int64) string { return model.MemberName(clustertest.New(), serial) }
	waits := func(words string) string {
		return "wait for the members to write a snapshot that etcd 3.7 can start from" + words
	}
	const passes = "have the members write a snapshot"
	noted := func(options ...clustertest.Option) world {
		return entered("3.6.16", options...).asks(clustertest.Versioned("3.7.3"), formedOn("3.5.35"), notedAt(50))
	}
	count := func(n string) clustertest.Option { return clustertest.WithEnv("ETCD_SNAPSHOT_COUNT", n) }
	elsewhere := func(c *etcdv1beta2.EtcdCluster) {
		clustertest.PodPolicy(c).EtcdEnv = []etcdv1beta2.EnvVar{{Name: "ETCD_SNAPSHOT_COUNT", ValueFrom: &corev1.EnvVarSource{}}}
	}
	tooMany := "wait for ETCD_SNAPSHOT_COUNT in spec.pod.etcdEnv to be 200000 or less: the members' logs may contain entries from before etcd 3.6, which 3.7.3 cannot read, and a member writes a snapshot only after that many more entries"
	for name, test := range map[string]struct {
		world   world
		want    string
		entries uint64
	}{
		"nothing is noted yet":                   {entered("3.6.16").asks(clustertest.Versioned("3.7.3"), formedOn("3.5.35")), waits(""), 0},
		"it is unknown what it began with":       {entered("3.6.16").asks(clustertest.Versioned("3.7.3")), waits(""), 0},
		"it is noted":                            {noted().applied(50, 50, 50), passes, 10_700},
		"it is noted, and some have passed":      {noted().applied(6_250, 6_200, 6_250), passes, 4_500},
		"the last one is behind":                 {noted().applied(10_750, 10_249, 10_750), waits(" (90% done)"), 0},
		"all have it":                            {noted().applied(10_750, 10_250, 10_750), "change " + n(1) + " to 3.7.3", 0},
		"clients wrote enough":                   {noted().applied(99_999, 99_998, 99_999), "change " + n(1) + " to 3.7.3", 0},
		"one of them has 3.7":                    {noted().applied(10_750, 10_750, 10_750).running(1, "3.7.3", "3.7.3"), "change " + n(2) + " to 3.7.3", 0},
		"a smaller count":                        {noted(count("100")).applied(351, 351, 351), "change " + n(1) + " to 3.7.3", 0},
		"a count that etcd takes for none":       {noted(count("0")).applied(351, 351, 351), passes, 10_399},
		"the count is changed":                   {noted(clustertest.WithClaims).applied(60, 60, 60).asks(count("10")), "recreate " + n(1), 0},
		"the count is changed, emptyDir":         {noted().applied(99_999, 99_999, 99_999).asks(count("100000")), "add member " + n(3), 0},
		"too large a count":                      {noted(count("200001")).applied(50, 50, 50), tooMany, 0},
		"too large a count, and clients wrote":   {noted(count("200001")).applied(300_000, 300_000, 300_000), "change " + n(1) + " to 3.7.3", 0},
		"a count from elsewhere":                 {noted(elsewhere).applied(99_999, 99_999, 99_999), tooMany, 0},
		"one does not start":                     {noted().applied(50, 50, 50).unpulled(1), "wait for " + n(1) + " to be healthy: container etcd: ImagePullBackOff: not found", 0},
		"one does not start, and another is 3.7": {noted().applied(50, 50, 50).running(2, "3.7.3", "3.7.3").unpulled(1), "change " + n(1) + " to 3.7.3", 0},
		"one does not start in a bad 3.7":        {noted().applied(50, 50, 50).running(1, "", "3.7.99").unpulled(1), "change " + n(1) + " to 3.7.3", 0},
		"3.6 needs nothing":                      {noted().applied(50, 50, 50).asks(clustertest.Versioned("3.6.17")), "change " + n(1) + " to 3.6.17", 0},
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

// passes is a fake etcd store that adds up the log entries that the step Advance should write.
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
	if d.next.Step != nil && d.next.Step.Reason == "" {
		if err := d.next.Step.Do(t.Context(), store); err != nil {
			t.Fatal(err)
		}
	}
	return store.entries
}

func formedOn(version string) clustertest.Option {
	return func(c *etcdv1beta2.EtcdCluster) { c.Status.FormedWith = version }
}

func notedAt(index int64) clustertest.Option {
	return func(c *etcdv1beta2.EtcdCluster) { c.Status.SnapshotFrom = index }
}

// entered returns a cluster whose members all run the given version.
func entered(version string, options ...clustertest.Option) world {
	runs := func(c *etcdv1beta2.EtcdCluster) { c.Status.CurrentVersion = version }
	return observed(clustertest.New(append(options, clustertest.Versioned(version), runs)...), 3)
}

// Regression: opcrew did not record which version the spec had before opcrew wrote the first status.
func TestAClusterIsFormedWithTheLowestVersionThatAnyMemberMayHaveRun(t *testing.T) {
	w := observed(clustertest.New(clustertest.Unformed, clustertest.Versioned("3.6.16")), 3).running(1, "3.6.16", "3.5.35")
	if got := w.formedWith(w.c); got != "3.5.35" {
		t.Errorf("expected the version of the pod that was made first, 3.5.35, got %s", got)
	}
}
