// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package machineconfig

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	mcfgv1 "github.com/opcrew/opcrew/api/machineconfiguration/v1"
	"github.com/opcrew/opcrew/internal/kinds/machineconfig/nodepatch"
	"github.com/opcrew/opcrew/internal/kit"
)

// unhealthy makes a node miss the health gate after its update.
func unhealthy(n *corev1.Node, updated, since time.Duration) *corev1.Node {
	n.Annotations[nodepatch.UpdatedAnnotation] = nodepatch.Stamp(target, now.Add(-updated))
	n.Status.Conditions[0].Status = corev1.ConditionFalse
	n.Status.Conditions[0].LastTransitionTime = metav1.NewTime(now.Add(-since))
	return n
}

func TestAConfigurationIsRecordedOnlyWhenAllNodesAreHealthyWithIt(t *testing.T) {
	for name, n := range map[string]*corev1.Node{
		"not healthy yet":     unhealthy(newNode("a", target, nil), time.Minute, 2*time.Minute),
		"not healthy in time": unhealthy(newNode("a", target, nil), time.Hour, 2*time.Hour),
	} {
		if got := reported(newPool(), facts{}, kit.Outcome{}, n).Status.Configuration.Name; got != earlier {
			t.Errorf("%s: expected the earlier configuration to stay recorded, got %s", name, got)
		}
	}
	healthyForLong := unhealthy(newNode("a", target, nil), 2*time.Hour, time.Minute)
	if got := reported(newPool(), facts{}, kit.Outcome{}, healthyForLong).Status.Configuration.Name; got != target {
		t.Errorf("expected a node that became unhealthy long after its update to count as updated, got %s", got)
	}
}

func TestAnUpdateOfTheOnlyNodeThatMissesTheGateIsRolledBack(t *testing.T) {
	p := newPool()
	p.Spec.Rollout = &mcfgv1.Rollout{OnFailure: mcfgv1.FailureRollBack}
	node := unhealthy(newNode("a", target, nil), time.Hour, 2*time.Hour)
	p = reported(p, facts{}, kit.Outcome{}, node)
	if back := p.Status.RollBack; back == nil || back.To != earlier {
		t.Fatalf("expected a return to the earlier configuration, got %+v", back)
	}
	if p = reported(p, facts{}, kit.Outcome{}, node); p.Status.Configuration.Name != earlier || p.Status.RollBack == nil {
		t.Errorf("expected the record to stay until the node has returned, got %+v", p.Status)
	}
}
