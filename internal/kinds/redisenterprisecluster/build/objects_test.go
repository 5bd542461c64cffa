// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package build

import (
	"reflect"
	"slices"
	"testing"

	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/access"
	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/clustertest"
	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/desired"
	"github.com/opcrew/opcrew/test/testenv/golden"
)

func TestTheChildrenOfTheArticlesClusterAndOfOneWithAllFields(t *testing.T) {
	for name, c := range map[string]*clustertest.Cluster{
		"article": clustertest.Accepted(t, "article.yaml", "redis-enterprise"), "all-fields": clustertest.Accepted(t, "all-fields.yaml", "everything"),
	} {
		c.Spec.Hibernate = false
		r := mustRead(t, c)
		golden.Check(t, name+"-set.yaml", StatefulSet(r, c, desired.Nodes(c)))
		golden.Check(t, name+"-network.yaml", NetworkPolicy(c, "opcrew-system"))
		golden.Check(t, name+"-nodes.yaml", NodeService(c))
		golden.Check(t, name+"-page.yaml", PageService(c))
		golden.Check(t, name+"-budget.yaml", DisruptionBudget(c))
		golden.Check(t, name+"-config.yaml", ConfigMap(c))
		golden.Check(t, name+"-users.yaml", access.Users(c, "secret"))
		golden.Check(t, name+"-system.yaml", access.System(c, "inner", []string{desired.Hash("secret")}))
	}
	golden.Check(t, "account.yaml", ServiceAccount(clustertest.New(clustertest.With(`createServiceAccount: true`))))
}

func TestARackThatIsTheZoneTakesItsPlace(t *testing.T) {
	c := clustertest.New(clustertest.With(`rackAwarenessNodeLabel: topology.kubernetes.io/zone`))
	constraints := template(mustRead(t, c), c).Spec.TopologySpreadConstraints
	var got []string
	for _, constraint := range constraints {
		got = append(got, *constraint.TopologyKey+" "+string(*constraint.WhenUnsatisfiable))
	}
	want := []string{"kubernetes.io/hostname ScheduleAnyway", "topology.kubernetes.io/zone DoNotSchedule"}
	if !slices.Equal(got, want) {
		t.Errorf("expected %v, got %v", want, got)
	}
}

func TestPodsAreOthersOnlyForSettingsThatAreReadAtTheStart(t *testing.T) {
	before := clustertest.New(clustertest.With("redisConfig: {maxmemory-policy: noeviction, io-threads: '4'}"))
	for config, same := range map[string]bool{
		"maxmemory-policy: allkeys-lru, io-threads: '4'": true,
		"maxmemory-policy: noeviction, io-threads: '8'":  false,
		"maxmemory-policy: noeviction":                   false,
	} {
		after := clustertest.New(clustertest.With("redisConfig: {" + config + "}"))
		a, b := template(mustRead(t, before), before), template(mustRead(t, after), after)
		if reflect.DeepEqual(a, b) != same {
			t.Errorf("%s: expected the pods to stay as they are: %v", config, same)
		}
	}
}
