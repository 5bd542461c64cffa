// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/api/common"
	mcfgv1 "github.com/opcrew/opcrew/api/machineconfiguration/v1"
	"github.com/opcrew/opcrew/test/testenv/operator"
)

// author returns a client of a user who may write MachineConfigs, and configure the machines of some pools; without
// pools, of all.
func author(t *testing.T, name string, pools ...string) client.Client {
	t.Helper()
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{mcfgv1.GroupVersion.Group}, Resources: []string{"machineconfigs", "machineconfigpools"}, Verbs: []string{"*"}},
		{APIGroups: []string{mcfgv1.GroupVersion.Group}, Resources: []string{"machines"}, ResourceNames: pools, Verbs: []string{"apply"}},
	}}
	binding := &rbacv1.ClusterRoleBinding{ObjectMeta: role.ObjectMeta, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: name}}}
	create(t, role, binding)
	user := env.ClientFor(t, env.ConfigAs(name))
	operator.Until(t, "the policy about rights is in force, and "+name+" has its roles", func() error {
		err := user.Create(t.Context(), newConfig("nobodys", "50-nobodys", "x"), client.DryRunAll)
		if refused := err != nil && strings.Contains(err.Error(), "may not configure machines of pool nobodys"); refused != (len(pools) > 0) {
			return fmt.Errorf("got %w", err)
		}
		return nil
	})
	return user
}

func TestAnAuthorNeedsTheRightToTheMachinesOfThePool(t *testing.T) {
	env.Deployed(t)
	user := author(t, "olga", "allowed")
	mine := newConfig("allowed", "60-allowed", "x")
	if err := user.Create(t.Context(), mine); err != nil || !strings.Contains(mine.Annotations[common.RequesterAnnotation], "olga") {
		t.Errorf("expected the requester to be recorded, got %v (%v)", mine.Annotations, err)
	}
	t.Cleanup(func() { _ = env.Client.Delete(t.Context(), mine) })
	theirs := newConfig("other", "50-other", "x")
	create(t, theirs)
	free := newConfig("", "50-free", "x")
	free.Labels = nil
	moved := mine.DeepCopy()
	create(t, newPool("other"))
	for what, err := range map[string]error{
		"configure another pool": user.Create(t.Context(), newConfig("other", "60-other", "x"), client.DryRunAll),
		"configure all pools":    user.Create(t.Context(), free, client.DryRunAll),
		"create another pool":    user.Create(t.Context(), newPool("others"), client.DryRunAll),
		"pause another pool": user.Patch(t.Context(), newPool("other"),
			client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"annotations":{"opcrew.io/paused":"true"}}}`)), client.DryRunAll),
		"delete another pool's config": user.Delete(t.Context(), theirs, client.DryRunAll),
		"move a config to another pool": user.Patch(t.Context(), moved,
			client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"labels":{"machineconfiguration.openshift.io/role":"other"}}}`)), client.DryRunAll),
		"name another requester": user.Patch(t.Context(), mine.DeepCopy(),
			client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"annotations":{"opcrew.io/requester":"{\"username\":\"root\"}"}}}`)), client.DryRunAll),
	} {
		if what == "name another requester" && err == nil {
			continue // the API server replaces the record by the name of the user
		}
		if !apierrors.IsForbidden(err) {
			t.Errorf("expected olga not to be able to %s, got %v", what, err)
		}
	}
}

// change tries a JSON merge patch in a dry run, and returns the result.
func change[T client.Object](t *testing.T, user client.Client, object T, patch string) (T, error) {
	t.Helper()
	out := object.DeepCopyObject().(T)
	return out, user.Patch(t.Context(), out, client.RawPatch(types.MergePatchType, []byte(patch)), client.DryRunAll)
}

func TestTheRightToOnePoolIsNotTheRightToChooseItsNodes(t *testing.T) {
	env.Deployed(t)
	user := author(t, "bob", "bar")
	if err := user.Create(t.Context(), newPool("bar"), client.DryRunAll); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "all pools") {
		t.Errorf("expected bob not to be able to create the pool, because it can select any node, got %v", err)
	}
	create(t, newPool("bar"))
	bar := pool(t, "bar")
	for what, patch := range map[string]string{
		"select other nodes":          `{"spec":{"nodeSelector":{"matchLabels":{"kubernetes.io/os":"linux"}}}}`,
		"select no nodes":             `{"spec":{"nodeSelector":null}}`,
		"select other MachineConfigs": `{"spec":{"machineConfigSelector":{"matchLabels":{"machineconfiguration.openshift.io/role":"foo"}}}}`,
		"become the pool's requester": `{"metadata":{"annotations":{"opcrew.io/requester":"me"}}}`,
	} {
		if _, err := change(t, user, bar, patch); !apierrors.IsForbidden(err) {
			t.Errorf("expected bob not to be able to %s, got %v", what, err)
		}
	}
	rest := `{"metadata":{"labels":{"team":"bob"}},"spec":{"paused":true,"maxUnavailable":2,"driftPolicy":"Repair","rollout":{"onFailure":"RollBack"}}}`
	if after, err := change(t, user, bar, rest); err != nil || after.Annotations[common.RequesterAnnotation] != bar.Annotations[common.RequesterAnnotation] {
		t.Errorf("expected bob to set the rest of the pool without becoming its requester, got %v (%v)", after.Annotations, err)
	}
	if err := user.Delete(t.Context(), bar, client.DryRunAll); err != nil {
		t.Errorf("expected bob to be able to delete the pool, got %v", err)
	}
}

func TestTheRightToAllMachinesIsTheRightToChooseTheNodesOfPools(t *testing.T) {
	env.Deployed(t)
	user := author(t, "alice")
	if err := user.Create(t.Context(), newPool("chosen"), client.DryRunAll); err != nil {
		t.Errorf("expected alice to be able to create pools, got %v", err)
	}
	create(t, newPool("chosen"))
	after, err := change(t, user, pool(t, "chosen"), `{"spec":{"nodeSelector":{"matchLabels":{"kubernetes.io/os":"linux"}}}}`)
	if err != nil || !strings.Contains(after.Annotations[common.RequesterAnnotation], "alice") {
		t.Errorf("expected alice to select other nodes, and to become the requester, got %v (%v)", after.Annotations, err)
	}
}
