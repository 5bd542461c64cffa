// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package activity

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	"github.com/opcrew/opcrew/internal/kinds/activity/activitytest"
)

func TestWhichRightsARunNeeds(t *testing.T) {
	worker, master := &corev1.Node{}, &corev1.Node{}
	master.Labels = map[string]string{"node-role.kubernetes.io/control-plane": ""}
	withSecret := func(a *egov1.Activity) {
		a.Spec.SecretEnvs = []egov1.SecretEnv{{Name: "TOKEN", Secret: "credentials", Key: "token"}}
	}
	asBob := func(a *egov1.Activity) { a.Spec.ExecUser = "bob" }
	for name, c := range map[string]struct {
		object *egov1.Activity
		node   *corev1.Node
		want   []string
	}{
		"on a worker, as root":     {activitytest.New(), worker, []string{"run hosts node1", "run-as hostusers root"}},
		"as another user":          {activitytest.New(asBob), worker, []string{"run hosts node1", "run-as hostusers bob"}},
		"on the control plane":     {activitytest.New(), master, []string{"run hosts node1", "run-as hostusers root", "run-on-control-plane hosts node1"}},
		"over SSH":                 {activitytest.New(activitytest.OverSSH), worker, []string{"run sshhosts db1.example.com", "run-as hostusers admin", "get secrets logins"}},
		"with a value of a Secret": {activitytest.New(withSecret), worker, []string{"run hosts node1", "run-as hostusers root", "get secrets credentials"}},
	} {
		var got []string
		for _, r := range rights(c.object, c.node) {
			if wanted := map[bool]string{true: "chores"}[r.Resource == "secrets"]; r.Namespace != wanted {
				t.Errorf("%s: expected the right to %s in namespace %q, and to hosts in none, got %q", name, r.Resource, wanted, r.Namespace)
			}
			got = append(got, r.Verb+" "+r.Resource+" "+r.Name)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: expected %q, got %q", name, c.want, got)
		}
	}
}
