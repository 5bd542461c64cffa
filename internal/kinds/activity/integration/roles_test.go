// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	"github.com/opcrew/opcrew/internal/kinds/activity/run"
)

// bind gives a user a ClusterRole in the namespace of the test.
func (s *site) bind(who, role string) {
	s.Helper()
	binding := &rbacv1.RoleBinding{Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: who}}}
	binding.Namespace, binding.Name = s.ns, who
	binding.RoleRef = rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role}
	s.made(binding)
}

// newShop returns a site with a running Activity of an administrator, and users with the roles that opcrew installs for
// them.
func newShop(t *testing.T) *site {
	t.Helper()
	s := newSite(t)
	env.Apply(t, "config/users/activity.yaml")
	s.bind("viewer", "opcrew-activity-viewer")
	s.bind("editor", "opcrew-activity-editor")
	s.bind("developer", "edit")
	s.create("chore", "sleep")
	s.await("chore", egov1.StateRunning)
	return s
}

func (s *site) read(who string) func() error {
	return func() error {
		return s.as(who).Get(s.Context(), client.ObjectKey{Namespace: s.ns, Name: "chore"}, &egov1.Activity{})
	}
}

func (s *site) cancel(who string) func() error {
	return s.change(who, `{"spec":{"cancel":true}}`)
}

func (s *site) change(who, merge string) func() error {
	return func() error {
		return s.as(who).Patch(s.Context(), s.declared("chore", ""), client.RawPatch("application/merge-patch+json", []byte(merge)))
	}
}

// The status contains the output of commands. So the role "edit" of Kubernetes must not include the right to read
// Activities.
func TestOnlyUsersWithTheRightReadTheOutputOfACommand(t *testing.T) {
	s := newShop(t)
	s.try("the viewer reads", "", s.read("viewer"))
	s.try("an unrelated user reads", "cannot get resource", s.read("unrelated"))
	s.try("the developer reads what others may edit", "", func() error {
		return s.as("developer").List(s.Context(), &corev1.ConfigMapList{}, client.InNamespace(s.ns))
	})
	s.try("the developer reads", "cannot get resource", s.read("developer"))
	s.try("the viewer reads elsewhere", "cannot list resource", func() error {
		return s.as("viewer").List(s.Context(), &egov1.ActivityList{})
	})
	for _, who := range []string{"viewer", "editor"} {
		s.try("the "+who+" looks for the order of the pod", "cannot list resource", func() error {
			return s.as(who).List(s.Context(), &corev1.PodList{}, client.InNamespace(run.Namespace))
		})
	}
}

func TestOnlyUsersWhoMayChangeActivitiesCancelACommand(t *testing.T) {
	s := newShop(t)
	remove := func(who string) func() error {
		return func() error { return s.as(who).Delete(s.Context(), s.declared("chore", "")) }
	}
	for _, who := range []string{"viewer", "developer", "unrelated"} {
		s.try("the "+who+" cancels", "cannot patch resource", s.cancel(who))
		s.try("the "+who+" deletes", "cannot delete resource", remove(who))
	}
	if a := s.get("chore"); a.Status.Prosta != egov1.StateRunning || a.DeletionTimestamp != nil {
		t.Errorf("expected it to run on, it is %s", a.Status.Prosta)
	}
	// Ending a command requires no right to the host. The right to change the Activity in its namespace is enough.
	s.try("the editor cancels", "", s.cancel("editor"))
	s.await("chore", egov1.StateCancelled)
}

// Users must not write the status, because they could make a command run again.
func TestTheStatusOfAnActivityIsWrittenByTheOperatorAlone(t *testing.T) {
	s := newShop(t)
	for _, who := range []string{"viewer", "editor", "developer"} {
		s.try("the "+who+" writes the status", "cannot patch resource \"activities/status\"", func() error {
			return s.as(who).Status().Patch(s.Context(), s.declared("chore", ""), client.RawPatch("application/merge-patch+json", []byte(`{"status":{"run":0,"podUID":""}}`)))
		})
	}
	s.try("the editor writes it as a part of the whole", "", s.change("editor", `{"status":{"run":0,"podUID":""}}`))
	if a := s.get("chore"); a.Status.Run != 1 || a.Status.PodUID == "" {
		t.Errorf("expected the status to stay as it was, it is %+v", a.Status)
	}
}
