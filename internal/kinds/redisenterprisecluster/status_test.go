// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redisenterprisecluster

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
	"github.com/opcrew/opcrew/internal/kit/condition"
)

// some are slots as text, so many of them.
type some struct {
	n    int
	text string
}

func (s some) Len() int       { return s.n }
func (s some) String() string { return s.text }

// ringOf is a ring of three with all in its place.
func ringOf(changes ...func(servers)) servers {
	slots := []some{{5461, "0-5460"}, {5462, "5461-10922"}, {5461, "10923-16383"}}
	var all servers
	for i := range 3 {
		pod := fmt.Sprintf("example-%d", i)
		all = append(all,
			server{pod: pod, place: redisv1alpha1.Home, answers: true, role: redisv1alpha1.Primary, shard: fmt.Sprint(i), slots: slots[i]},
			server{pod: pod, place: redisv1alpha1.Guest, answers: true, role: redisv1alpha1.Replica, shard: fmt.Sprint((i + 2) % 3), inSync: true})
	}
	for _, change := range changes {
		change(all)
	}
	return all
}

// failedOver has pod 0 gone, and the guest of pod 1 lead its shard.
func failedOver(all servers) {
	gone := all[0]
	for i := range 2 {
		all[i] = server{pod: all[i].pod, place: all[i].place}
	}
	all[3].role, all[3].inSync, all[3].slots = redisv1alpha1.Primary, false, gone.slots
}

func TestTheSlotMapNamesThePrimaryAndItsReplicaOfEachShard(t *testing.T) {
	type line = redisv1alpha1.ServerSlots
	for name, test := range map[string]struct {
		all  servers
		want []line
	}{
		"all in their places": {ringOf(), []line{
			{Pod: "example-0", Place: "home", Role: "primary", Slots: "0-5460"},
			{Pod: "example-0", Place: "guest", Role: "replica", Slots: "10923-16383"},
			{Pod: "example-1", Place: "home", Role: "primary", Slots: "5461-10922"},
			{Pod: "example-1", Place: "guest", Role: "replica", Slots: "0-5460"},
			{Pod: "example-2", Place: "home", Role: "primary", Slots: "10923-16383"},
			{Pod: "example-2", Place: "guest", Role: "replica", Slots: "5461-10922"},
		}},
		"a pod is gone": {ringOf(failedOver), []line{
			{Pod: "example-0", Place: "home"},
			{Pod: "example-0", Place: "guest"},
			{Pod: "example-1", Place: "home", Role: "primary", Slots: "5461-10922"},
			{Pod: "example-1", Place: "guest", Role: "primary", Slots: "0-5460"},
			{Pod: "example-2", Place: "home", Role: "primary", Slots: "10923-16383"},
			{Pod: "example-2", Place: "guest", Role: "replica", Slots: "5461-10922"},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, test.all.slotMap()); diff != "" {
				t.Errorf("expected another map (-expected +found):\n%s", diff)
			}
			if n := test.all.shards(); n != 3 {
				t.Errorf("expected 3 shards, got %d", n)
			}
		})
	}
}

// told is a condition as one line.
func told(conditions []metav1.Condition, kind string) string {
	c := meta.FindStatusCondition(conditions, kind)
	if c == nil {
		return "none"
	}
	return fmt.Sprintf("%s %s: %s", c.Status, c.Reason, c.Message)
}

func TestAvailableCountsSlotsAndNamesThoseThatNobodyServes(t *testing.T) {
	silent := ringOf(func(all servers) { all[0] = server{pod: "example-0", place: "home"} })
	for want, test := range map[string]struct {
		all               servers
		unserved, refused some
	}{
		"True AllSlotsServed: 16384 of 16384 slots are served by 3 primaries": {ringOf(), some{}, some{}},
		"False SlotsUnserved: 10923 of 16384 slots are served by 2 primaries; 0-5460 have no primary that answers, and these servers do not answer: home of example-0": {
			silent, some{5461, "0-5460"}, some{},
		},
		"False SlotsUnserved: 16383 of 16384 slots are served by 3 primaries; 7 have no primary that answers": {ringOf(), some{1, "7"}, some{}},
		"False SlotsUnserved: 10923 of 16384 slots are served by 2 primaries; 0-5460 are refused to clients: home of example-0 holds the cluster to be down, as it is deaf": {
			ringOf(func(all servers) { all[0].down, all[1].down = "as it is deaf", "as it is deaf" }), some{}, some{5461, "0-5460"},
		},
	} {
		var list []metav1.Condition
		reportAvailable(condition.Set{Conditions: &list, Now: noon}, test.all, test.unserved, test.refused)
		if got := told(list, "Available"); got != want {
			t.Errorf("expected %q, got %q", want, got)
		}
	}
}

func TestRedundantTellsTheFirstShardThatHasNoCopyElsewhere(t *testing.T) {
	for name, test := range map[string]struct {
		all  servers
		want string
	}{
		"all have one":  {ringOf(), "True AllShardsReplicated: 3 of 3 shards have a replica in sync on another pod"},
		"a pod is gone": {ringOf(failedOver), "False ReplicaMissing: 1 of 3 shards have a replica in sync on another pod; that of guest of example-1 has none"},
		"one is being filled": {
			ringOf(func(all servers) { all[3].inSync = false }),
			"False ReplicaBehind: 2 of 3 shards have a replica in sync on another pod; guest of example-1 has not caught up with home of example-0 yet",
		},
		"one that does not answer is none": {
			ringOf(func(all servers) { all[3].answers = false }),
			"False ReplicaMissing: 2 of 3 shards have a replica in sync on another pod; that of home of example-0 has none",
		},
		"a ring of one": {
			servers{
				{pod: "example-0", place: "home", answers: true, role: "primary", shard: "0", slots: some{16384, "0-16383"}},
				{pod: "example-0", place: "guest", answers: true, role: "replica", shard: "0", inSync: true},
			},
			"False TooFewNodes: 0 of 1 shards have a replica in sync on another pod; that of home of example-0 is on the same pod; set nodes to 3 or more",
		},
		"nobody answers": {servers{{pod: "example-0", place: "home"}}, "False ReplicaMissing: No shard is seen, and so no replica of one"},
	} {
		t.Run(name, func(t *testing.T) {
			var list []metav1.Condition
			reportRedundant(condition.Set{Conditions: &list, Now: noon}, test.all)
			if got := told(list, "Redundant"); got != test.want {
				t.Errorf("expected %q, got %q", test.want, got)
			}
		})
	}
}

func TestTheStateIsInTheVendorsWords(t *testing.T) {
	formed := situation{made: true, answering: 6, formed: true, served: 16384}
	change := func(change func(*situation)) situation {
		s := formed
		change(&s)
		return s
	}
	for want, cases := range map[redisv1alpha1.State][]situation{
		"PendingCreation":       {{}},
		"BootstrappingFirstPod": {{made: true}},
		"Initializing":          {{made: true, answering: 1}, {made: true, answering: 6, served: 16384}},
		"Running":               {formed},
		"Hibernating":           {{made: true, formed: true, asleep: true}},
		"RunningRollingUpdate":  {change(func(s *situation) { s.rolling = true })},
		"Upgrade":               {change(func(s *situation) { s.rolling, s.upgrading = true, true })},
		"RecoveringFirstPod":    {change(func(s *situation) { s.served = 0 })},
		"Error":                 {change(func(s *situation) { s.served = 16383 }), change(func(s *situation) { s.refused = true })},
		"Invalid":               {change(func(s *situation) { s.invalid = true }), {invalid: true}},
		"Deleting":              {change(func(s *situation) { s.deleting, s.invalid = true, true })},
	} {
		for _, s := range cases {
			if got := stateOf(s); got != want {
				t.Errorf("%+v: expected %s, got %s", s, want, got)
			}
		}
	}
	if specStatus(nil) != "Valid" || specStatus(errors.New("x")) != "Invalid" {
		t.Error("expected the spec to be Valid unless it cannot be")
	}
}

func TestRemarksAreThereOnlyWhereThereIsSomethingToRemark(t *testing.T) {
	var list []metav1.Condition
	set := condition.Set{Conditions: &list, Now: noon}
	c := accepted(t, "article.yaml", "redis-enterprise")
	c.Spec.License, c.Spec.LDAP = `"words"`, `{"protocol":"LDAP"}`
	mustRead(t, c).reportRemarks(set, c)
	if got := told(list, "ImageReplaced"); !strings.HasPrefix(got, "True VendorImage: redislabs/redis:5.4.0-19 is the vendor's own") {
		t.Errorf("expected to be told of another image than the article's, got %q", got)
	}
	if got := told(list, "FieldsIgnored"); got != "True NotServed: Accepted and not served: ldap, license" {
		t.Errorf("expected the fields to be named and not what is in them, got %q", got)
	}
	if got, want := told(list, "SpecNormalized"), `True BlanksDropped: spec.redisEnterpriseNodeResources.limits.memory: "4 Gi" is read as 4Gi; `+
		`spec.redisEnterpriseNodeResources.requests.memory: "4 Gi" is read as 4Gi`; got != want {
		t.Errorf("expected to be told as what the article's memory is read:\n%s, got\n%s", want, got)
	}
	plain := newCluster()
	mustRead(t, plain).reportRemarks(set, plain)
	if len(list) > 0 {
		t.Errorf("expected no remark on an object without such fields, got %v", list)
	}
}
