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
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/build"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/clustertest"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
)

// Regressions: a member whose pod lost a label counted as lost. If another client changed the version in a pod's
// annotation, opcrew waited forever for the member.
func TestWhatWasChangedOnAPodIsPutBack(t *testing.T) {
	for name, test := range map[string]struct {
		edit func(*corev1.Pod)
		want string // parts of the expected patch; empty if none is expected
	}{
		"nothing":            {func(*corev1.Pod) {}, ""},
		"a label of its own": {func(p *corev1.Pod) { p.Labels["mine"] = "x" }, ""},
		"app":                {func(p *corev1.Pod) { p.Labels["app"] = "foo" }, `{"op":"add","path":"/metadata/labels/app","value":"etcd"}`},
		"app is gone":        {func(p *corev1.Pod) { delete(p.Labels, "app") }, `{"op":"add","path":"/metadata/labels/app","value":"etcd"}`},
		"its name":           {func(p *corev1.Pod) { p.Labels[etcdv1beta2.NodeLabel] = "other" }, `/metadata/labels/etcd_node`},
		"the version": {func(p *corev1.Pod) { p.Annotations["etcd.version"] = "1.1.1" }, `{"op":"test","path":"/metadata/annotations/etcd.version","value":"1.1.1"},` +
			`{"op":"add","path":"/metadata/annotations/etcd.version","value":"3.5.35"},{"op":"test","path":"/spec/containers/0/name","value":"etcd"},{"op":"replace","path":"/spec/containers/0/image","value":"quay.io/coreos/etcd:v3.5.35"}`},
		"the version, and the spec has changed": {func(p *corev1.Pod) {
			p.Annotations["etcd.version"], p.Annotations[model.SettingsAnnotation] = "1.1.1", "earlier"
		}, ""},
		"a pod that is going": {func(p *corev1.Pod) { p.Labels, p.DeletionTimestamp = nil, &metav1.Time{Time: clustertest.Noon} }, ""},
	} {
		w := observed(clustertest.New(), 3)
		test.edit(w.pods[model.MemberName(w.c, 1)])
		patches := build.Repairs(w.c, w.members(w.c))
		switch {
		case test.want == "" && len(patches) > 0:
			t.Errorf("%s: expected no patch, got %s", name, patches[0].Data)
		case test.want == "":
		case len(patches) != 1 || patches[0].Object.GetName() != model.MemberName(w.c, 1) || !strings.Contains(string(patches[0].Data), test.want):
			t.Errorf("%s: expected one patch of the pod with %s, got %+v", name, test.want, patches)
		}
	}
}

func TestAMemberThatIsChangedToAnotherVersionIsLeftToTheUpdate(t *testing.T) {
	w := observed(clustertest.New(), 3).asks(clustertest.Versioned("3.5.36"))
	if patches := build.Repairs(w.c, w.members(w.c)); len(patches) > 0 {
		t.Errorf("expected members that run the version before to be left alone, got %s", patches[0].Data)
	}
	w = w.running(1, "3.5.35", "3.5.36") // etcd in this pod has not been restarted yet
	if patches := build.Repairs(w.c, w.members(w.c)); len(patches) > 0 {
		t.Errorf("expected a member that is about to run it to be left alone, got %s", patches[0].Data)
	}
}

func TestServicesAndBudgetLeaveOutWhatAnEarlierClusterOfTheNameHasLeft(t *testing.T) {
	c := clustertest.New()
	w := observed(c, 3)
	d := w.decide(c)
	for what, selector := range map[string]map[string]string{
		"peers": build.PeerService(c).Spec.Selector, "clients": build.ClientService(c).Spec.Selector, "budget": build.DisruptionBudget(c, d.members).Spec.Selector.MatchLabels,
	} {
		if selector[common.OwnerLabel] != string(c.UID) || selector["app"] != "etcd" || selector["etcd_cluster"] != c.Name {
			t.Errorf("%s: expected the contract's labels and the cluster's own, got %v", what, selector)
		}
	}
}
