// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/opcrew/opcrew/api/common"
	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
)

// Regression: a member whose pod lost a label was called lost, and one whose pod said another
// version was waited for, for ever.
func TestWhatSomebodyChangedOnAPodIsPutBack(t *testing.T) {
	runs := func(image string) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			p.Spec.Containers = []corev1.Container{{Name: "sidecar", Image: "quay.io/coreos/etcd:v1.1.1"}, {Name: container, Image: image}}
		}
	}
	for name, test := range map[string]struct {
		edit func(*corev1.Pod)
		want string // parts of the patch; none: there is none
	}{
		"nothing":               {func(*corev1.Pod) {}, ""},
		"a label of its own":    {func(p *corev1.Pod) { p.Labels["mine"] = "x" }, ""},
		"app":                   {func(p *corev1.Pod) { p.Labels["app"] = "foo" }, `{"op":"add","path":"/metadata/labels/app","value":"etcd"}`},
		"app is gone":           {func(p *corev1.Pod) { delete(p.Labels, "app") }, `{"op":"add","path":"/metadata/labels/app","value":"etcd"}`},
		"its name":              {func(p *corev1.Pod) { p.Labels[etcdv1beta2.NodeLabel] = "other" }, `/metadata/labels/etcd_node`},
		"the version":           {runs("quay.io/coreos/etcd:v3.5.34"), `{"op":"test","path":"/metadata/annotations/etcd.version","value":"3.5.35"},{"op":"add","path":"/metadata/annotations/etcd.version","value":"3.5.34"}`},
		"the version it runs":   {runs("quay.io/coreos/etcd:v3.5.35"), ""},
		"an image of their own": {runs("example.com/etcd:v3.5.34"), ""},
		"a pod that is going":   {func(p *corev1.Pod) { p.Labels, p.DeletionTimestamp = nil, &metav1.Time{Time: noon} }, ""},
	} {
		w := observed(newCluster(), 3)
		test.edit(w.pods[memberName(w.c, 1)])
		patches := remarks(w.c, w.members(w.c))
		switch {
		case test.want == "" && len(patches) > 0:
			t.Errorf("%s: expected no patch, got %s", name, patches[0].Data)
		case test.want == "":
		case len(patches) != 1 || patches[0].Object.GetName() != memberName(w.c, 1) || !strings.Contains(string(patches[0].Data), test.want):
			t.Errorf("%s: expected one patch of the pod with %s, got %+v", name, test.want, patches)
		}
	}
}

func TestServicesAndBudgetLeaveOutWhatAnEarlierClusterOfTheNameHasLeft(t *testing.T) {
	c := newCluster()
	w := observed(c, 3)
	d := w.decide(c)
	for what, selector := range map[string]map[string]string{
		"peers": peerService(c).Spec.Selector, "clients": forClients(c).Spec.Selector, "budget": disruptionBudget(c, d).Spec.Selector.MatchLabels,
	} {
		if selector[common.OwnerLabel] != string(c.UID) || selector["app"] != "etcd" || selector["etcd_cluster"] != c.Name {
			t.Errorf("%s: expected the contract's labels and the cluster's own, got %v", what, selector)
		}
	}
}

func TestTheCacheKeepsOfAPodWhichVersionItIsOf(t *testing.T) {
	pod := &corev1.Pod{Spec: corev1.PodSpec{NodeName: "n", HostNetwork: true, Containers: []corev1.Container{{Name: container, Image: "quay.io/coreos/etcd:v3.6.1", Args: []string{"x"}}}}}
	if _, err := trimPod(pod); err != nil {
		t.Fatal(err)
	}
	if got := imageVersion(newCluster(), pod); got != "3.6.1" || pod.Spec.NodeName != "n" || pod.Spec.HostNetwork || pod.Spec.Containers[0].Args != nil {
		t.Errorf("expected version and node, and nothing else, got %q and %+v", got, pod.Spec)
	}
}
