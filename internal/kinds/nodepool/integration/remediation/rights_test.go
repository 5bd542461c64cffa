// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package remediation

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
	"github.com/opcrew/opcrew/test/testenv/operator"
)

// errNotYet makes operator.Until try again.
var errNotYet = errors.New("not yet")

func right(resource, verb string, names ...string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{APIGroups: []string{"ego.example.com"}, Resources: []string{resource}, Verbs: []string{verb}, ResourceNames: names}
}

// user returns a client of a user who may edit NodePools, and has the given rights. revoke removes these rights.
func (s *site) user(name string, rights ...rbacv1.PolicyRule) (user client.Client, revoke func()) {
	s.Helper()
	grant := func(suffix string, rules ...rbacv1.PolicyRule) *rbacv1.ClusterRoleBinding {
		role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: s.name + "-" + name + suffix}, Rules: rules}
		binding := &rbacv1.ClusterRoleBinding{
			ObjectMeta: role.ObjectMeta, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
			Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: name}},
		}
		s.must(env.Client.Create(s.Context(), role))
		s.must(env.Client.Create(s.Context(), binding))
		return binding
	}
	grant("-editor", rbacv1.PolicyRule{APIGroups: []string{"nodes.lailin.xyz"}, Resources: []string{"nodepools"}, Verbs: []string{"*"}})
	binding := grant("", rights...)
	user = env.ClientFor(s.T, env.ConfigAs(name))
	operator.Until(s.T, name+" may edit NodePools", func() error {
		return user.Create(s.Context(), &nodesv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "trial"}}, client.DryRunAll)
	})
	return user, func() { s.must(env.Client.Delete(s.Context(), binding)) }
}

// Who sets spec.remediation is root on hosts. So an editor of NodePools must not gain that from the pool.
func TestOnlyAUserWhoMayRunCommandsOnAllHostsSetsARemediation(t *testing.T) {
	s := newSite(t, "rights")
	s.create("true", "echo off")
	none, _ := s.user("nora")
	some, _ := s.user("sara", right("hosts", "run", "node1"), right("hostusers", "run-as", "root"))
	web, _ := s.user("wanda", right("hosts", "run"), right("hostusers", "run-as", "web"))
	admin, _ := s.user("ada", right("hosts", "run"), right("hostusers", "run-as", "root"))
	other := s.pool("true", "echo off")
	other.Name = "rights-new"
	forged := other.DeepCopy()
	forged.Annotations = map[string]string{"opcrew.io/requester": `{"username":"ada","groups":["system:masters"]}`}
	asWeb := other.DeepCopy()
	asWeb.Spec.Remediation.Fence.ExecUser, asWeb.Spec.Remediation.PowerStatus.ExecUser = "web", "web"
	try := func(user client.Client, patch string) error {
		return user.Patch(t.Context(), s.get(), client.RawPatch(types.MergePatchType, []byte(patch)), client.DryRunAll)
	}
	for what, err := range map[string]error{
		"nora creates a remediation":                          none.Create(t.Context(), other.DeepCopy(), client.DryRunAll),
		"nora forges a requester":                             none.Create(t.Context(), forged, client.DryRunAll),
		"nora changes a command":                              try(none, `{"spec":{"remediation":{"fence":{"command":"id"}}}}`),
		"nora removes the remediation":                        try(none, `{"spec":{"remediation":null}}`),
		"nora changes the nodes":                              try(none, `{"spec":{"nodeSelector":{"a":"b"}}}`),
		"sara may run commands on one host":                   some.Create(t.Context(), other.DeepCopy(), client.DryRunAll),
		"wanda may not be root, as the probe of the peers is": web.Create(t.Context(), asWeb, client.DryRunAll),
	} {
		if err == nil || !strings.Contains(err.Error(), "may not run commands") && !strings.Contains(err.Error(), "must name the user") {
			t.Errorf("%s: expected a refusal that names the right, got %v", what, err)
		}
	}
	for what, err := range map[string]error{
		"ada creates a remediation": admin.Create(t.Context(), other.DeepCopy(), client.DryRunAll),
		"nora changes a label":      try(none, `{"spec":{"labels":{"tier":"other"}}}`),
	} {
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestNoCommandRunsWithoutTheRightsOfTheRequester(t *testing.T) {
	s := newSite(t, "revoked")
	admin, revoke := s.user("rita", right("hosts", "run"), right("hostusers", "run-as", "root"))
	operator.Until(t, "rita may create the pool", func() error {
		return admin.Create(t.Context(), s.pool("true", "echo off"), client.DryRunAll)
	})
	s.must(admin.Create(t.Context(), s.pool("true", "echo off")))
	env.Clear(t, &nodesv1.NodePoolList{}, "")
	who := &egov1.Requester{}
	s.must(json.Unmarshal([]byte(s.get().Annotations["opcrew.io/requester"]), who))
	if who.Username != "rita" {
		t.Fatalf("expected rita as the requester, got %+v", who)
	}
	revoke()
	operator.Until(t, "rita has lost her rights", func() error {
		if admin.Create(t.Context(), s.pool("true", "echo on"), client.DryRunAll) == nil {
			return errNotYet
		}
		return nil
	})
	s.die(s.dead, "10.99.0.1", map[string]string{s.role(): ""})
	s.await(nodesv1.NodePoolReady, "False RemediationFailed", "lacks a right")
	if runs := s.runs(); len(runs["fence"]) != 2 || len(runs["power-1"]) > 0 || s.taints() != "" {
		t.Errorf("expected two refused fence commands and no taint, got %v and %q", runs, s.taints())
	}
}
