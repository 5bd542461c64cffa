// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package drain_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/opcrew/opcrew/internal/nodedrain/drain"
)

func created(at time.Time) podOption {
	return func(p *corev1.Pod) { p.CreationTimestamp = metav1.Time{Time: at} }
}

func tolerates(t corev1.Toleration) podOption {
	return func(p *corev1.Pod) { p.Spec.Tolerations = []corev1.Toleration{t} }
}

func TestAPodThatComesBackToACordonedNodeStays(t *testing.T) {
	cordoned := now.Add(-time.Minute)
	all := tolerates(corev1.Toleration{Operator: corev1.TolerationOpExists})
	for name, c := range map[string]struct {
		pod  *corev1.Pod
		want string
	}{
		"it tolerates everything":           {pod("a", created(now), all), ""},
		"it tolerates the cordon":           {pod("a", created(now), tolerates(corev1.Toleration{Key: corev1.TaintNodeUnschedulable, Operator: corev1.TolerationOpExists})), ""},
		"it tolerates the cordon by value":  {pod("a", created(now), tolerates(corev1.Toleration{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule})), ""},
		"it tolerates something else":       {pod("a", created(now), tolerates(corev1.Toleration{Key: "x", Operator: corev1.TolerationOpExists})), "evict a"},
		"it tolerates another effect":       {pod("a", created(now), tolerates(corev1.Toleration{Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute})), "evict a"},
		"it was there before":               {pod("a", created(now.Add(-time.Hour)), all), "evict a"},
		"it came in the second of a cordon": {pod("a", created(cordoned), all), "evict a"},
		"it came before the cordon took":    {pod("a", created(now)), "evict a"},
	} {
		if got := text(drain.Next(drain.Input{Now: now, Node: "n", Cordoned: cordoned, Pods: []*corev1.Pod{c.pod}})); got != c.want {
			t.Errorf("%s: expected %q, got %q", name, c.want, got)
		}
	}
	if got := text(drain.Next(drain.Input{Now: now, Node: "n", Pods: []*corev1.Pod{pod("a", created(now), all)}})); got != "evict a" {
		t.Errorf("expected a pod to be evicted while the time of the cordon is unknown, got %q", got)
	}
}

func TestARefusedEvictionIsNamedAndTriedAgainAfterAllOthers(t *testing.T) {
	pods, refused := []*corev1.Pod{}, map[types.UID]string{}
	for i := range drain.MostAtOnce {
		p := pod(fmt.Sprintf("a%02d", i))
		pods, refused[p.UID] = append(pods, p), "a webhook denies it"
	}
	got := drain.Next(drain.Input{Now: now, Node: "n", Pods: append(pods, pod("z")), Refused: refused})
	if got.Evict[0].Name != "z" || len(got.Evict) != drain.MostAtOnce || got.Done() {
		t.Errorf("expected pod z first, and then the others again, got %v", got.Evict)
	}
	if len(got.Blocked) == 0 || !strings.Contains(got.Blocked[0].Message, "a webhook denies it") {
		t.Errorf("expected the refusal to be named, got %v", got.Blocked)
	}
}
