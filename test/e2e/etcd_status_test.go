// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/test/testenv/eventually"
)

// etcdStatus contains the conditions, and the status fields that clients of the CoreOS operator read.
type etcdStatus struct {
	Phase              string             `json:"phase"`
	Size               int                `json:"size"`
	ServiceName        string             `json:"serviceName"`
	ClientPort         int                `json:"clientPort"`
	CurrentVersion     string             `json:"currentVersion"`
	TargetVersion      string             `json:"targetVersion"`
	ClusterID          string             `json:"clusterID"`
	ObservedGeneration int64              `json:"observedGeneration"`
	Members            etcdPods           `json:"members"`
	Conditions         []metav1.Condition `json:"conditions"`
}

// etcdPods contains the names of the ready and unready member pods.
type etcdPods struct {
	Ready   []string `json:"ready"`
	Unready []string `json:"unready"`
}

// status returns the status of the EtcdCluster, and metadata.generation.
func (e *etcdTest) status(t *testing.T) (etcdStatus, int64) {
	t.Helper()
	o := e.object(nil)
	if err := e.Get(t.Context(), client.ObjectKeyFromObject(o), o); err != nil {
		t.Fatal(err)
	}
	status := etcdStatus{}
	if raw, ok := o.Object["status"].(map[string]any); ok {
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(raw, &status); err != nil {
			t.Fatal(err)
		}
	}
	return status, o.GetGeneration()
}

// await waits until the status, the pods and etcd itself all show that the given number of members is ready and has the
// given version.
func (e *etcdTest) await(t *testing.T, size int, version string) etcdStatus {
	t.Helper()
	var s etcdStatus
	eventually.True(t, 5*time.Minute, fmt.Sprintf("%d members with version %s are ready", size, version), func() error {
		var generation int64
		s, generation = e.status(t)
		ready := meta.FindStatusCondition(s.Conditions, "Ready")
		if ready == nil || ready.Status != metav1.ConditionTrue || s.ObservedGeneration != generation ||
			s.Size != size || len(s.Members.Ready) != size || len(s.Members.Unready) != 0 || s.CurrentVersion != version || s.TargetVersion != "" {
			return fmt.Errorf("the status is %+v", s)
		}
		return e.wantVoters(t, s.Members.Ready, version)
	})
	e.wantContract(t, s)
	return s
}

// wantContract checks the status fields, Services and labels on which clients of the CoreOS operator rely.
func (e *etcdTest) wantContract(t *testing.T, s etcdStatus) {
	t.Helper()
	if s.Phase != "Running" || s.ServiceName != articleEtcd+"-client" || s.ClientPort != 2379 {
		t.Errorf("expected phase Running, and the client Service by name and port, got %+v", s)
	}
	e.wantService(t, articleEtcd, 2379, 2380)
	if s := e.wantService(t, articleEtcd+"-client", 2379); s.Spec.ClusterIP == corev1.ClusterIPNone {
		t.Error("the client Service should have a ClusterIP")
	}
	pods := e.pods(t)
	var names []string
	for _, p := range pods {
		names = append(names, p.Name)
		if p.Labels["app"] != "etcd" || p.Labels["etcd_node"] != p.Name || p.Annotations["etcd.version"] != s.CurrentVersion || p.Spec.Hostname != p.Name || p.Spec.Subdomain != articleEtcd {
			t.Errorf("expected labels, annotation and host name of the contract, got %+v", p.ObjectMeta)
		}
		if suffix, ok := strings.CutPrefix(p.Name, articleEtcd+"-"); !ok || len(suffix) != 10 {
			t.Errorf("expected pods named %s-<10 characters>, got %s", articleEtcd, p.Name)
		}
	}
	if !slices.Equal(slices.Sorted(slices.Values(names)), slices.Sorted(slices.Values(s.Members.Ready))) {
		t.Errorf("the pods are %q, but status.members.ready lists %q", names, s.Members.Ready)
	}
}

// wantService checks that a Service has the name, labels and ports on which clients of the CoreOS operator rely.
func (e *etcdTest) wantService(t *testing.T, name string, ports ...int32) *corev1.Service {
	t.Helper()
	s := &corev1.Service{}
	if err := e.Get(t.Context(), client.ObjectKey{Namespace: e.ns, Name: name}, s); err != nil {
		t.Fatal(err)
	}
	var found []int32
	for _, p := range s.Spec.Ports {
		found = append(found, p.Port)
	}
	if slices.Sort(found); !slices.Equal(found, ports) || s.Labels["app"] != "etcd" || s.Labels["etcd_cluster"] != articleEtcd {
		t.Errorf("expected ports %v and the labels of the contract, got %v, %v", ports, found, s.Labels)
	}
	return s
}

// pods returns the members' pods, sorted by name. It leaves out pods that are being deleted.
func (e *etcdTest) pods(t *testing.T) []corev1.Pod {
	t.Helper()
	pods := &corev1.PodList{}
	if err := e.List(t.Context(), pods, client.InNamespace(e.ns), client.MatchingLabels{"etcd_cluster": articleEtcd}); err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(pods.Items, func(a, b corev1.Pod) int { return strings.Compare(a.Name, b.Name) })
	return slices.DeleteFunc(pods.Items, func(p corev1.Pod) bool { return p.DeletionTimestamp != nil })
}

// awaitSays waits until Ready has the given status, and its reason or message contains one of the words.
func (e *etcdTest) awaitSays(t *testing.T, status metav1.ConditionStatus, words ...string) {
	t.Helper()
	eventually.True(t, 2*time.Minute, fmt.Sprintf("Ready is %s and contains one of %q", status, words), func() error {
		s, _ := e.status(t)
		ready := meta.FindStatusCondition(s.Conditions, "Ready")
		if ready == nil || ready.Status != status {
			return fmt.Errorf("Ready is %+v", ready)
		}
		if !slices.ContainsFunc(words, func(w string) bool { return strings.Contains(ready.Reason+": "+ready.Message, w) }) {
			return fmt.Errorf("Ready has reason %s and message %s", ready.Reason, ready.Message)
		}
		return nil
	})
}
