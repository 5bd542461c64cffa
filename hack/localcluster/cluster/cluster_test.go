// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/opcrew/opcrew/hack/localcluster/state"
)

func TestOnlyMountsBelowTheStateDirectoryAreOurs(t *testing.T) {
	mountinfo := `22 1 254:0 / / rw shared:1 - ext4 /dev/vda rw
40 22 0:4 net:[1] /var/lib/opcrew-localcluster/netns/node1 rw - nsfs nsfs rw
41 22 0:5 / /var/lib/opcrew-localcluster-other/x rw - tmpfs tmpfs rw
42 40 0:4 net:[2] /var/lib/opcrew-localcluster/netns/node1 rw - nsfs nsfs rw
43 22 0:4 net:[3] /var/lib/opcrew-localcluster/netns/node2 rw - nsfs nsfs rw
`
	dir := state.DefaultDir + "/netns/"
	got := parseMounts(mountinfo, state.DefaultDir)
	if want := []string{dir + "node2", dir + "node1", dir + "node1"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestPlanNamesNodesInOrder(t *testing.T) {
	st, err := plan(Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, n := range st.Nodes {
		names = append(names, n.Name)
		if len(n.ContainerdSocket) > 107 {
			t.Errorf("%s is too long for a socket", n.ContainerdSocket)
		}
	}
	if !slices.Equal(names, []string{"node1", "node2", "node3"}) {
		t.Errorf("got %v", names)
	}
}

func TestPlanRefusesNodesThatDoNotFit(t *testing.T) {
	for _, count := range []int{-1, 1000} {
		if _, err := plan(Options{Dir: t.TempDir(), Nodes: count}); err == nil {
			t.Errorf("%d nodes were accepted", count)
		}
	}
}

func TestANodeIsReadyOnlyWithoutItsTaint(t *testing.T) {
	node := corev1.Node{}
	if got := readiness(node); got != "no Ready condition yet" {
		t.Errorf("fresh: %q", got)
	}
	node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionFalse, Reason: "KubeletNotReady", Message: "no network"}}
	if got := readiness(node); !strings.Contains(got, "no network") {
		t.Errorf("not ready: %q", got)
	}
	node.Status.Conditions[0].Status = corev1.ConditionTrue
	node.Spec.Taints = []corev1.Taint{{Key: corev1.TaintNodeNotReady, Effect: corev1.TaintEffectNoSchedule}}
	if got := readiness(node); !strings.Contains(got, corev1.TaintNodeNotReady) {
		t.Errorf("tainted: %q", got)
	}
	// A node with taints that users set still counts as ready.
	node.Spec.Taints = []corev1.Taint{{Key: "example.com/pool"}, {Key: corev1.TaintNodeUnschedulable}}
	if got := readiness(node); got != "" {
		t.Errorf("cordoned: %q", got)
	}
}

func TestMissingBinariesAreNamedTogether(t *testing.T) {
	err := binariesBuilt(t.TempDir())
	if err == nil || !strings.Contains(err.Error(), "kube") || !strings.Contains(err.Error(), "addons") || strings.Contains(err.Error(), "\n") {
		t.Errorf("got %v", err)
	}
}

func TestMissingPackagesAreNamedAsOneCommand(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	err := packagesInstalled()
	if err == nil || !strings.Contains(err.Error(), "apt-get install containerd runc ") {
		t.Fatalf("got %v", err)
	}
	if strings.Count(err.Error(), "containerd") != 1 {
		t.Errorf("a package is named twice: %v", err)
	}
}
