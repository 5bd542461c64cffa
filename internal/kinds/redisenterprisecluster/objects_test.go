// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redisenterprisecluster

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/opcrew/opcrew/test/testenv/golden"
)

func TestTheChildrenOfTheArticlesClusterAndOfOneWithAllFields(t *testing.T) {
	for name, c := range map[string]*cluster{
		"article": accepted(t, "article.yaml", "redis-enterprise"), "all-fields": accepted(t, "all-fields.yaml", "everything"),
	} {
		c.Spec.Hibernate = false
		r := mustRead(t, c)
		golden.Check(t, name+"-set.yaml", r.statefulSet(c, nodes(c)))
		golden.Check(t, name+"-nodes.yaml", nodeService(c))
		golden.Check(t, name+"-page.yaml", pageService(c))
		golden.Check(t, name+"-budget.yaml", disruptionBudget(c))
		golden.Check(t, name+"-config.yaml", config(c))
		golden.Check(t, name+"-users.yaml", users(c, "secret"))
		golden.Check(t, name+"-system.yaml", system(c, "inner", []string{hashOf("secret")}))
	}
	golden.Check(t, "account.yaml", account(newCluster(with(`createServiceAccount: true`))))
}

func TestAnAccountIsMadeOnlyWhereTheUserWantsOne(t *testing.T) {
	for spec, want := range map[string]struct {
		name string
		made bool
	}{
		`{}`:                         {"", false},
		`createServiceAccount: true`: {"example", true},
		`serviceAccountName: theirs`: {"theirs", false},
		`{createServiceAccount: true, serviceAccountName: mine}`: {"mine", true},
	} {
		if name, made := serviceAccount(newCluster(with(spec))); name != want.name || made != want.made {
			t.Errorf("%s: expected %+v, got %q, %t", spec, want, name, made)
		}
	}
}

func TestWhatServersAcceptIsReadAgainAsItWasWritten(t *testing.T) {
	hashes := []string{hashOf("old"), hashOf("new")}
	data := system(newCluster(), "inner", hashes).Data
	if got := acceptedIn(&corev1.Secret{Data: data}); !slices.Equal(got, hashes) {
		t.Errorf("expected %v, got %v", hashes, got)
	}
	if got := acceptedIn(&corev1.Secret{}); len(got) > 0 {
		t.Errorf("expected nothing to be accepted by a Secret without the key, got %v", got)
	}
}

func TestAPasswordIsReadWithoutTheLinesEndThatAnEditorLeaves(t *testing.T) {
	secret := &corev1.Secret{Data: map[string][]byte{passwordKey: []byte(" a b \r\n")}}
	if got := passwordIn(secret); got != " a b " {
		t.Errorf(`expected " a b ", got %q`, got)
	}
}

func TestARackThatIsTheZoneTakesItsPlace(t *testing.T) {
	c := newCluster(with(`rackAwarenessNodeLabel: topology.kubernetes.io/zone`))
	constraints := mustRead(t, c).template(c).Spec.TopologySpreadConstraints
	var got []string
	for _, constraint := range constraints {
		got = append(got, *constraint.TopologyKey+" "+string(*constraint.WhenUnsatisfiable))
	}
	want := []string{"kubernetes.io/hostname ScheduleAnyway", "topology.kubernetes.io/zone DoNotSchedule"}
	if !slices.Equal(got, want) {
		t.Errorf("expected %v, got %v", want, got)
	}
}

func TestTheUsersLabelsStandBackBehindOurs(t *testing.T) {
	c := newCluster(with(`extraLabels: {app: theirs, team: shop}`))
	if got := labels(c); got["app"] != "redis-enterprise" || got["team"] != "shop" {
		t.Errorf("expected their own app to be left out and team to be kept, got %v", got)
	}
	if c.Spec.ExtraLabels["app"] != "theirs" {
		t.Error("expected the spec to stay as it is")
	}
}

func TestClientsFindTheClusterAndEachOfItsPods(t *testing.T) {
	golden.Check(t, "endpoints.yaml", endpoints(newCluster(), 3))
}
