// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/clustertest"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/podapi/etcdstart"
)

// Found by fault injection: one of two first members lost its pod before the cluster was formed. etcd did not let the
// recreated member join while the other member knew it, so the cluster never formed.
func TestFirstMembersStartOverWhenOneIsShutOutAndTheyCannotDoWithoutIt(t *testing.T) {
	shutOut := func(w world) world {
		return w.said(1, etcdstart.EtcdEnded, "discovery failed: member c3a7981494ebb2c5 has already been bootstrapped")
	}
	for name, test := range map[string]struct {
		world world
		want  bool
	}{
		"one of two is shut out":             {shutOut(observed(clustertest.New(clustertest.Unformed, clustertest.Sized(2)), 2)), true},
		"one of three, the others decide":    {shutOut(observed(clustertest.New(clustertest.Unformed), 3)), false},
		"one of three, and another is gone":  {shutOut(observed(clustertest.New(clustertest.Unformed), 3)).down(2), true},
		"their volumes stay":                 {shutOut(observed(clustertest.New(clustertest.Unformed, clustertest.Sized(2), clustertest.WithClaims), 2)), false},
		"the cluster was formed":             {shutOut(observed(clustertest.New(clustertest.Sized(2)), 2)), false},
		"etcd has ended for another reason":  {observed(clustertest.New(clustertest.Unformed, clustertest.Sized(2)), 2).said(1, etcdstart.EtcdEnded, "unknown flag"), false},
		"all answer, it was let in meantime": {observed(clustertest.New(clustertest.Unformed, clustertest.Sized(2)), 2), false},
	} {
		w := test.world
		d := w.decide(w.c)
		for serial := range int64(2) {
			if got := d.drop[model.MemberName(w.c, serial)]; got != test.want {
				t.Errorf("%s: expected the pod of member %d to be recreated: %v, got %v", name, serial, test.want, got)
			}
		}
	}
	w := shutOut(observed(clustertest.New(clustertest.Unformed, clustertest.Sized(2)), 2))
	w.c.Status.Conditions = nil
	reportAt(w.c, w.facts, kit.Outcome{}, clustertest.Noon)
	ready := meta.FindStatusCondition(w.c.Status.Conditions, etcdv1beta2.EtcdClusterReady)
	if ready == nil || !strings.Contains(ready.Message, "starting again: one of them lost its volume") {
		t.Errorf("expected Ready to say that the first members start over, got %+v", ready)
	}
}
