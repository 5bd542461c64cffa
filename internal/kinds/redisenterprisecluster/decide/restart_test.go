// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package decide

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/clustertest"
	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/observed"
	"github.com/opcrew/opcrew/internal/stores/redis"
	"github.com/opcrew/opcrew/internal/stores/redis/ring"
)

// replicasOnly returns a pod that may be restarted: the cluster serves all slots, and both servers of the pod run as
// replicas.
func replicasOnly() (Input, Decision, *corev1.Pod) {
	c := clustertest.New()
	c.Status.Conditions = []metav1.Condition{{Type: redisv1alpha1.ConditionAvailable, Status: "True", Reason: redisv1alpha1.ReasonAllSlotsServed}}
	pod := &corev1.Pod{}
	pod.Name = "example-0"
	all := observed.Servers{}
	for _, place := range []redisv1alpha1.Place{redisv1alpha1.Home, redisv1alpha1.Guest} {
		pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, corev1.ContainerStatus{
			Name: string(place), State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}},
		})
		all = append(all, observed.Server{Pod: pod.Name, Place: place, Answers: true, Role: redisv1alpha1.Replica})
	}
	return Input{Cluster: c, Seen: true, Servers: all}, Decision{}, pod
}

func TestEachRuleDecidesOnTheRestartOfAPod(t *testing.T) {
	stop := func(pod *corev1.Pod) { pod.Status.ContainerStatuses = nil }
	lead := func(in *Input) {
		in.Servers[0].Role, in.Servers[0].Slots = redisv1alpha1.Primary, redis.Slots{{First: 0, Last: 1}}
	}
	for name, test := range map[string]struct {
		change func(*Input, *Decision, *corev1.Pod)
		want   string
	}{
		"nothing stands in the way": {func(*Input, *Decision, *corev1.Pod) {}, ""},
		"a broken pod of a cluster that was never formed": {func(in *Input, _ *Decision, pod *corev1.Pod) {
			in.Cluster.Status.Conditions, in.Seen = nil, false
			stop(pod)
		}, ""},
		"the servers were not read": {func(in *Input, _ *Decision, _ *corev1.Pod) { in.Seen = false }, "opcrew is reading the servers first"},
		"a step was taken since":    {func(in *Input, _ *Decision, _ *corev1.Pod) { in.View.Stale = true }, "opcrew is reading the servers first"},
		"its data is nowhere else":  {func(in *Input, _ *Decision, _ *corev1.Pod) { clustertest.With("nodes: 1")(in.Cluster) }, "pod example-0 is not restarted: it has no volume, and no other pod has its data; to restart it without the data, delete the pod"},
		"it has a primary":          {func(in *Input, _ *Decision, _ *corev1.Pod) { lead(in) }, "example-0 has yet to hand over its primary role"},
		"it is broken, and others wait": {func(in *Input, d *Decision, pod *corev1.Pod) {
			stop(pod)
			d.Why.Doing = "heal"
			clustertest.With("persistentSpec: {}")(in.Cluster)
		}, ""},
		"the ring is being changed": {func(_ *Input, d *Decision, _ *corev1.Pod) { d.Why.Doing = "heal" }, "example-0 waits until the cluster is in its desired state: heal"},
		"the ring waits":            {func(_ *Input, d *Decision, _ *corev1.Pod) { d.Why.Refusals = []ring.Refusal{{Message: "slow"}} }, "example-0 waits until the cluster is in its desired state: slow"},
		"servers lack settings":     {func(in *Input, _ *Decision, _ *corev1.Pod) { in.Untuned = true }, "opcrew is sending the servers their settings first"},
	} {
		in, d, pod := replicasOnly()
		test.change(&in, &d, pod)
		if got := in.wait(d, pod).Message; got != test.want {
			t.Errorf("%s: expected %q, got %q", name, test.want, got)
		}
	}
}
