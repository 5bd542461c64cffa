// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/test/testenv/operator"
)

func limited(memory string) option {
	return func(c *etcdv1beta2.EtcdCluster) {
		if c.Spec.Pod == nil {
			c.Spec.Pod = &etcdv1beta2.PodPolicy{}
		}
		c.Spec.Pod.Resources = corev1.ResourceRequirements{}
		if memory != "" {
			c.Spec.Pod.Resources.Limits = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(memory)}
		}
	}
}

// awaitLimit waits until all members match the spec, and expects all pods to have the memory limit; "" means none.
func (s *site) awaitLimit(memory string) []types.UID {
	s.Helper()
	s.awaitWhole()
	s.awaitCondition(etcdv1beta2.EtcdClusterUpToDate, "True AllUpToDate")
	s.awaitWhole()
	for _, pod := range s.pods() {
		has := pod.Spec.Containers[0].Resources
		limit, request := has.Limits[corev1.ResourceMemory], has.Requests[corev1.ResourceMemory]
		if want := resource.MustParse(memory); !limit.Equal(want) || !request.Equal(want) {
			s.Errorf("expected pod %s to have %s of memory, it has a limit of %s and asks for %s", pod.Name, memory, &limit, &request)
		}
	}
	return uids(s.pods())
}

func (s *site) wantRecreated(before, after []types.UID) {
	s.Helper()
	if slices.ContainsFunc(after, func(uid types.UID) bool { return slices.Contains(before, uid) }) {
		s.Errorf("expected all pods to be recreated, were %q, are %q", before, after)
	}
}

func uids(pods []corev1.Pod) []types.UID {
	var out []types.UID
	for _, pod := range pods {
		out = append(out, pod.UID)
	}
	slices.Sort(out)
	return out
}

// A resize needs two writes per member: one records the new resources on the pod, and one changes the pod's resources.
func TestOtherResourcesAreGivenToMembersThatRun(t *testing.T) {
	for name, options := range map[string][]option{"emptyDir": nil, "claims": {withClaims}} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			s.create(append(options, limited("1Gi"))...)
			before := s.awaitLimit("1Gi")
			env.Settled(t, env.Audit.Mark(t))
			mark := env.Audit.Mark(t)
			s.edit(limited("2Gi"))
			if after := s.awaitLimit("2Gi"); !slices.Equal(before, after) {
				t.Errorf("expected the pods to stay, were %q, are %q", before, after)
			}
			writes := env.Settled(t, mark).Writes()
			if tally := writes.Tally(); tally["patch pods/resize"] != 3 || tally["patch pods"] != 3 {
				t.Errorf("expected two writes a member, got %v:\n%s", tally, writes)
			}
			env.Rests(t)
			s.operator.Stop()
			mark = env.Audit.Mark(t)
			s.operator.Start()
			if writes := env.Settled(t, mark).Writes(); len(writes) > 0 {
				t.Errorf("expected no write after a restart, got:\n%s", writes)
			}
		})
	}
}

// Kubernetes does not allow a limit to be removed from a running pod.
func TestPodsAreRecreatedForResourcesThatCannotBeChangedWhileTheyRun(t *testing.T) {
	s := newSite(t)
	s.create(withClaims, limited("1Gi"))
	before := s.awaitLimit("1Gi")
	s.edit(limited(""))
	s.wantRecreated(before, s.awaitLimit("0"))
}

// A kubelet that cannot resize reports no resources in the pod's status. The API server then refuses the resize.
func TestPodsAreRecreatedWhereTheKubeletCannotResizeThem(t *testing.T) {
	s := newSite(t)
	s.create(withClaims, limited("1Gi"))
	before := s.awaitLimit("1Gi")
	for _, pod := range s.pods() {
		patch := client.RawPatch(types.JSONPatchType, []byte(`[{"op":"remove","path":"/status/containerStatuses/0/resources"}]`))
		if err := env.Client.Status().Patch(t.Context(), &pod, patch); err != nil {
			t.Fatal(err)
		}
	}
	s.edit(limited("2Gi"))
	s.wantRecreated(before, s.awaitLimit("2Gi"))
}

// The quota forbids the larger memory limit, for the running pod as well as for a new pod. So opcrew must keep the old
// pod: if opcrew deleted it, the member would be missing.
func TestAQuotaThatForbidsOtherResourcesCostsNoMember(t *testing.T) {
	s := newSite(t)
	s.create(withClaims, limited("1Gi"))
	before := s.awaitLimit("1Gi")
	quota := &corev1.ResourceQuota{}
	quota.Namespace, quota.Name = s.ns, "small"
	quota.Spec.Hard = corev1.ResourceList{corev1.ResourceLimitsMemory: resource.MustParse("4Gi")}
	if err := env.Client.Create(t.Context(), quota); err != nil {
		t.Fatal(err)
	}
	operator.Until(t, "the quota is counted", func() error {
		if err := env.Client.Get(t.Context(), client.ObjectKeyFromObject(quota), quota); err != nil || len(quota.Status.Used) == 0 {
			return fmt.Errorf("used is %v: %w", quota.Status.Used, err)
		}
		return nil
	})
	s.edit(limited("8Gi"))
	s.await("False Refused", "exceeded quota: small")
	if after := uids(s.pods()); !slices.Equal(before, after) {
		t.Errorf("expected the pods to stay, were %q, are %q", before, after)
	}
	for _, memory := range []string{"1200Mi", "1Gi"} {
		s.edit(limited(memory))
		if after := s.awaitLimit(memory); !slices.Equal(before, after) {
			t.Errorf("expected the pods to be given what the quota allows, were %q, are %q", before, after)
		}
	}
}
