// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"strings"
	"testing"
	"time"

	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/clustertest"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
	"github.com/opcrew/opcrew/internal/kit/ensure"
)

// A cloud that reclaims machines deletes their Nodes. Kubernetes deletes the pods on them a while later. Meanwhile the
// members look lost for good, but their volumes are intact.
func TestMembersWhoseVolumesAreIntactComeBackWhenTheirNodesAreGone(t *testing.T) {
	w := observed(clustertest.New(clustertest.WithClaims, automatic), 3).applied(70).savedAs("old", 5).serverless(0, 1, 2).plannedRecovery()
	if loss := w.c.Status.QuorumLoss; loss == nil || loss.Digest != "" || !strings.Contains(loss.Plan, "No recovery is needed: enough members can still come back; ") {
		t.Errorf("expected no plan, and the status to say what is waited for, got %+v", loss)
	}
	if at := reported(w).Status.Restore; at != nil {
		t.Errorf("expected nothing to be recovered, got %+v", at)
	}
	ended := w.without(0, 1, 2)
	if children := planAt(ended.c, ended.facts, clustertest.Noon).Children; podsIn(children) != 3 {
		t.Errorf("expected the members to be recreated on their claims, got %d pods", podsIn(children))
	}
}

func podsIn(children []ensure.Child) int {
	n := 0
	for _, child := range children {
		if _, is := child.Object.(*corev1ac.PodApplyConfiguration); is {
			n++
		}
	}
	return n
}

func TestAVolumeOnANodeThatIsGoneIsLostWhenItsMemberCannotBePlaced(t *testing.T) {
	three := func() world { return observed(clustertest.New(clustertest.WithClaims), 3).applied(70) }
	off, silent := &model.Node{SilentSince: clustertest.Noon.Add(-time.Hour), OutOfService: true}, &model.Node{SilentSince: clustertest.Noon.Add(-time.Hour)}
	for name, c := range map[string]struct {
		world world
		want  string
	}{
		"their nodes are deleted":          {three().unplaced(1, time.Hour, nil).unplaced(2, time.Hour, nil), "To recover from member " + model.MemberName(clustertest.New(), 0)},
		"their nodes are out of service":   {three().unplaced(1, time.Hour, off).unplaced(2, time.Hour, off), "To recover from member " + model.MemberName(clustertest.New(), 0)},
		"they may be restarted":            {three().unplaced(1, time.Hour, off).unplaced(2, time.Minute, off), "No recovery is needed: enough members can still come back; " + model.MemberName(clustertest.New(), 2) + ": node node-2, which has its volume, is gone or out of service; opcrew replaces the member once its pod has been unschedulable for 5m0s, or its claim is deleted"},
		"the last one's volume is intact":  {three().unplaced(1, time.Hour, nil).unplaced(2, time.Hour, nil).serverless(0).savedAs("old", 5), "The recovery waits for member " + model.MemberName(clustertest.New(), 0) + ", which still has its data, to respond"},
		"the last one's node is silent":    {three().unplaced(1, time.Hour, nil).unplaced(2, time.Hour, nil).silent(0, time.Hour).down(0).savedAs("old", 5), "The recovery waits for member " + model.MemberName(clustertest.New(), 0) + ", which still has its data, to respond"},
		"one is only silent":               {three().unplaced(1, time.Hour, nil).unplaced(2, time.Hour, silent), ""},
		"it cannot be placed for its size": {three().unplaced(1, time.Hour, nil).unplaced(2, time.Hour, &model.Node{}), ""},
	} {
		got := ""
		if loss := reported(c.world).Status.QuorumLoss; loss != nil {
			got = loss.Plan
		}
		if c.want == "" && got != "" || !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: expected %q, got %q", name, c.want, got)
		}
	}
}
