// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/clustertest"
	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/observed"
	"github.com/opcrew/opcrew/internal/kit/condition"
	"github.com/opcrew/opcrew/internal/stores/redis"
)

// some is a set of slots: their number and their text.
type some struct {
	n    int
	text string
}

func (s some) Len() int       { return s.n }
func (s some) String() string { return s.text }

// ringOf returns the servers of a healthy cluster of three pods, changed by the given functions.
func ringOf(changes ...func(observed.Servers)) observed.Servers {
	slots := []some{{5461, "0-5460"}, {5462, "5461-10922"}, {5461, "10923-16383"}}
	var all observed.Servers
	for i := range 3 {
		pod := fmt.Sprintf("example-%d", i)
		all = append(all,
			observed.Server{Pod: pod, Place: redisv1alpha1.Home, Answers: true, Role: redisv1alpha1.Primary, Shard: fmt.Sprint(i), Slots: slots[i]},
			observed.Server{Pod: pod, Place: redisv1alpha1.Guest, Answers: true, Role: redisv1alpha1.Replica, Shard: fmt.Sprint((i + 2) % 3), InSync: true})
	}
	for _, change := range changes {
		change(all)
	}
	return all
}

// failedOver removes pod 0, and makes its replica (the guest server of pod 1) the primary of pod 0's shard.
func failedOver(all observed.Servers) {
	gone := all[0]
	for i := range 2 {
		all[i] = observed.Server{Pod: all[i].Pod, Place: all[i].Place}
	}
	all[3].Role, all[3].InSync, all[3].Slots = redisv1alpha1.Primary, false, gone.Slots
}

func TestTheSlotMapNamesThePrimaryAndItsReplicaOfEachShard(t *testing.T) {
	type line = redisv1alpha1.ServerSlots
	for name, test := range map[string]struct {
		all  observed.Servers
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
			if diff := cmp.Diff(test.want, test.all.SlotMap()); diff != "" {
				t.Errorf("expected another map (-expected +found):\n%s", diff)
			}
			if n := test.all.Shards(); n != 3 {
				t.Errorf("expected 3 shards, got %d", n)
			}
		})
	}
}

// conditionText formats a condition as "status reason: message"; "none" if it does not exist.
func conditionText(conditions []metav1.Condition, kind string) string {
	c := meta.FindStatusCondition(conditions, kind)
	if c == nil {
		return "none"
	}
	return fmt.Sprintf("%s %s: %s", c.Status, c.Reason, c.Message)
}

func TestAvailableCountsSlotsAndNamesThoseThatNoServerServes(t *testing.T) {
	silent := ringOf(func(all observed.Servers) { all[0] = observed.Server{Pod: "example-0", Place: "home"} })
	for want, test := range map[string]struct {
		all               observed.Servers
		unserved, refused some
	}{
		"True AllSlotsServed: 16384 of 16384 slots are served by 3 primaries": {ringOf(), some{}, some{}},
		"False SlotsUnserved: 10923 of 16384 slots are served by 2 primaries; slots 0-5460 have no primary that answers; servers that do not answer: home server of example-0": {
			silent, some{5461, "0-5460"}, some{},
		},
		"False SlotsUnserved: 16383 of 16384 slots are served by 3 primaries; slots 7 have no primary that answers": {ringOf(), some{1, "7"}, some{}},
		"False SlotsUnserved: 10923 of 16384 slots are served by 2 primaries; requests for slots 0-5460 are refused: the home server of example-0 considers the cluster down, as it is deaf": {
			ringOf(func(all observed.Servers) { all[0].Down, all[1].Down = "as it is deaf", "as it is deaf" }), some{}, some{5461, "0-5460"},
		},
	} {
		complete, reason, text := served(test.all, test.unserved, test.refused)
		status := map[bool]string{true: "True", false: "False"}[complete]
		if got := fmt.Sprintf("%s %s: %s", status, reason, text); got != want {
			t.Errorf("expected %q, got %q", want, got)
		}
	}
}

func TestRedundantReportsTheFirstShardThatHasNoCopyElsewhere(t *testing.T) {
	for name, test := range map[string]struct {
		all  observed.Servers
		want string
	}{
		"all have one":  {ringOf(), "True AllShardsReplicated: 3 of 3 shards have a replica in sync on another pod"},
		"a pod is gone": {ringOf(failedOver), "False ReplicaMissing: 1 of 3 shards have a replica in sync on another pod; the shard of the guest server of example-1 has no replica"},
		"one is being filled": {
			ringOf(func(all observed.Servers) { all[3].InSync = false }),
			"False ReplicaBehind: 2 of 3 shards have a replica in sync on another pod; the guest server of example-1 has not caught up with the home server of example-0 yet",
		},
		"one that does not answer is none": {
			ringOf(func(all observed.Servers) { all[3].Answers = false }),
			"False ReplicaMissing: 2 of 3 shards have a replica in sync on another pod; the shard of the home server of example-0 has no replica",
		},
		"a ring of one": {
			observed.Servers{
				{Pod: "example-0", Place: "home", Answers: true, Role: "primary", Shard: "0", Slots: some{16384, "0-16383"}},
				{Pod: "example-0", Place: "guest", Answers: true, Role: "replica", Shard: "0", InSync: true},
			},
			"False TooFewNodes: 0 of 1 shards have a replica in sync on another pod; the replica of the home server of example-0 is on the same pod; set nodes to 3 or more",
		},
		"no server answers": {observed.Servers{{Pod: "example-0", Place: "home"}}, "False ReplicaMissing: No shards or replicas have been observed yet"},
	} {
		t.Run(name, func(t *testing.T) {
			var list []metav1.Condition
			reportRedundant(condition.Set{Conditions: &list, Now: clustertest.Noon}, test.all)
			if got := conditionText(list, "Redundant"); got != test.want {
				t.Errorf("expected %q, got %q", test.want, got)
			}
		})
	}
}

func TestTheStateIsInTheVendorsWords(t *testing.T) {
	formed := Situation{Created: true, Answering: 6, Formed: true, Served: 16384}
	change := func(change func(*Situation)) Situation {
		s := formed
		change(&s)
		return s
	}
	for want, cases := range map[redisv1alpha1.State][]Situation{
		"PendingCreation":       {{}},
		"BootstrappingFirstPod": {{Created: true}},
		"Initializing":          {{Created: true, Answering: 1}, {Created: true, Answering: 6, Served: 16384}},
		"Running":               {formed},
		"Hibernating":           {{Created: true, Formed: true, Hibernates: true}},
		"RunningRollingUpdate":  {change(func(s *Situation) { s.RollsOut = true })},
		"Upgrade":               {change(func(s *Situation) { s.RollsOut, s.Upgrades = true, true })},
		"RecoveringFirstPod":    {change(func(s *Situation) { s.Served = 0 })},
		"Error":                 {change(func(s *Situation) { s.Served = 16383 }), change(func(s *Situation) { s.Refused = true })},
		"Invalid":               {change(func(s *Situation) { s.Invalid = true }), {Invalid: true}},
		"Deleting":              {change(func(s *Situation) { s.Deleting, s.Invalid = true, true })},
	} {
		for _, s := range cases {
			if got := State(s); got != want {
				t.Errorf("%+v: expected %s, got %s", s, want, got)
			}
		}
	}
	if SpecStatus(nil) != "Valid" || SpecStatus(errors.New("x")) != "Invalid" {
		t.Error("expected the spec to be Valid unless it cannot be")
	}
}

func TestRemarksAreThereOnlyWhereThereIsSomethingToRemark(t *testing.T) {
	var list []metav1.Condition
	set := condition.Set{Conditions: &list, Now: clustertest.Noon}
	c := clustertest.Accepted(t, "article.yaml", "redis-enterprise")
	c.Spec.License, c.Spec.LDAP = `"words"`, `{"protocol":"LDAP"}`
	Remarks(set, c, mustRead(t, c), "")
	if got := conditionText(list, "ImageReplaced"); !strings.HasPrefix(got, "True VendorImage: redislabs/redis:5.4.0-19 is the vendor's image") {
		t.Errorf("expected a report of another image than the article's, got %q", got)
	}
	if got := conditionText(list, "FieldsIgnored"); got != "True NotServed: opcrew accepts these fields but ignores them: ldap, license" {
		t.Errorf("expected the fields to be named and not what is in them, got %q", got)
	}
	if got, want := conditionText(list, "SpecNormalized"), `True BlanksDropped: spec.redisEnterpriseNodeResources.limits.memory: "4 Gi" is read as 4Gi; `+
		`spec.redisEnterpriseNodeResources.requests.memory: "4 Gi" is read as 4Gi`; got != want {
		t.Errorf("expected a report of what the article's memory is read:\n%s, got\n%s", want, got)
	}
	plain := clustertest.New()
	Remarks(set, plain, mustRead(t, plain), "")
	if len(list) > 0 {
		t.Errorf("expected no remark on an object without such fields, got %v", list)
	}
}

func TestTheVersionIsTheLowest(t *testing.T) {
	for want, versions := range map[string][]redis.Version{
		"":             {{}},
		"7.0.9":        {{Number: "7.0.15"}, {Number: "7.0.9"}, {}},
		"valkey 8.1.3": {{Number: "8.1.10", Valkey: true}, {Number: "8.1.3", Valkey: true}},
	} {
		var all observed.Servers
		for _, version := range versions {
			all = append(all, observed.Server{Version: version})
		}
		if got := lowestVersion(all); got != want {
			t.Errorf("expected %q, got %q", want, got)
		}
	}
}
