// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package pipelines

import (
	"fmt"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	admissionv1 "k8s.io/api/admissionregistration/v1"

	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
	"github.com/opcrew/opcrew/test/testenv/operator"
)

func right(resource, verb string, names ...string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{APIGroups: []string{"ego.example.com"}, Resources: []string{resource}, Verbs: []string{verb}, ResourceNames: names}
}

// user returns a client of a user who may edit NodePools, and has the given rights. revoke removes these rights.
func (s *site) user(name string, rights ...rbacv1.PolicyRule) (user client.Client, revoke func()) {
	s.Helper()
	grant := func(suffix string, rules ...rbacv1.PolicyRule) *rbacv1.ClusterRoleBinding {
		role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: s.name + "-" + name + suffix}, Rules: rules}
		binding := &rbacv1.ClusterRoleBinding{ObjectMeta: role.ObjectMeta, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
			Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: name}}}
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

func TestOnlyAUserWhoMayRunCommandsOnAllHostsSetsPipelines(t *testing.T) {
	s := newSite(t, "rights")
	s.create(joins("true"))
	none, _ := s.user("nora")
	some, _ := s.user("sara", right("hosts", "run", "node1"), right("hostusers", "run-as", "root"))
	web, _ := s.user("wanda", right("hosts", "run"), right("hostusers", "run-as", "web"))
	other := s.pool(joins("true"))
	other.Name = "rights-new"
	asRoot := other.DeepCopy()
	forged := other.DeepCopy()
	forged.Annotations = map[string]string{"opcrew.io/requester": `{"username":"admin","groups":["system:masters"]}`}
	try := func(user client.Client, patch string) error {
		return user.Patch(t.Context(), s.get(), client.RawPatch(types.MergePatchType, []byte(patch)), client.DryRunAll)
	}
	for what, err := range map[string]error{
		"nora creates a pipeline":         none.Create(t.Context(), other.DeepCopy(), client.DryRunAll),
		"nora forges a requester":         none.Create(t.Context(), forged, client.DryRunAll),
		"nora changes a step":             try(none, `{"spec":{"onJoin":{"steps":[{"name":"a","template":{"command":"id"}}]}}}`),
		"nora adds a pipeline":            try(none, `{"spec":{"onLeave":{"steps":[{"name":"a","template":{"command":"id"}}]}}}`),
		"nora removes a pipeline":         try(none, `{"spec":{"onJoin":null}}`),
		"nora selects other nodes":        try(none, `{"spec":{"nodeSelector":{"kubernetes.io/os":"linux"}}}`),
		"nora becomes the requester":      try(none, `{"metadata":{"annotations":{"opcrew.io/requester":"me"}}}`),
		"sara, who may use only one host": some.Create(t.Context(), other.DeepCopy(), client.DryRunAll),
		"wanda, who may not be root":      web.Create(t.Context(), asRoot, client.DryRunAll),
	} {
		if !apierrors.IsForbidden(err) {
			t.Errorf("%s: expected a refusal, got %v", what, err)
		}
	}
	asWeb := other.DeepCopy()
	asWeb.Spec.OnJoin.Steps[0].Template.ExecUser = "web"
	if err := web.Create(t.Context(), asWeb, client.DryRunAll); err != nil || !strings.Contains(asWeb.Annotations["opcrew.io/requester"], "wanda") {
		t.Errorf("expected wanda to be recorded as the requester, got %v (%v)", asWeb.Annotations, err)
	}
	if err := try(none, `{"spec":{"taints":[]}}`); err != nil {
		t.Errorf("expected nora to be able to change other fields, got %v", err)
	}
}

func TestAStepNeedsThePresentRightsOfTheRequester(t *testing.T) {
	s := newSite(t, "revoked")
	ada, revoke := s.user("ada", right("hosts", "run"), right("hostusers", "run-as", "root"))
	s.must(ada.Create(t.Context(), s.pool(joins("true"))))
	env.Clear(t, &nodesv1.NodePoolList{}, "")
	revoke()
	operator.Until(t, "ada has lost her rights", func() error {
		p := s.pool(joins("true"))
		p.Name = "later"
		if err := ada.Create(t.Context(), p, client.DryRunAll); !apierrors.IsForbidden(err) {
			return fmt.Errorf("got %w", err)
		}
		return nil
	})
	name := s.nodes(1, map[string]string{s.role(): ""})[0]
	s.await(nodesv1.NodePoolReady, "False StepFailed", "user ada has no right to run hosts.ego.example.com "+name)
	s.awaitSteps(name + " join step-1 1: Refused")
}

// The operator may create Activities in the name of others. An Activity that claims to belong to a pool runs only if
// its requester decides about that pool.
func TestAnActivityThatIsNotOfThePoolsRequesterIsRefused(t *testing.T) {
	s := newSite(t, "claimed")
	s.create(joins("true"))
	name := s.nodes(1, nil)[0]
	a := &egov1.Activity{ObjectMeta: metav1.ObjectMeta{Namespace: activities, Name: "claimed", Labels: map[string]string{"opcrew.io/nodepool": s.name}}}
	a.Spec.Command, a.Spec.Host = "true", name
	s.must(env.Client.Create(t.Context(), a))
	env.Clear(t, &egov1.ActivityList{}, activities)
	operator.Until(t, "it is refused", func() error {
		err := env.Client.Get(t.Context(), client.ObjectKeyFromObject(a), a)
		if a.Status.Prosta != egov1.StateRefused {
			return fmt.Errorf("it is %s (%w)", a.Status.Prosta, err)
		}
		return nil
	})
}

func TestNoStepStartsWithoutThePolicyThatRecordsRequesters(t *testing.T) {
	s := newSite(t, "unbound")
	s.create(joins("true"))
	bind := env.Unbind(t, &admissionv1.ValidatingAdmissionPolicyBinding{ObjectMeta: metav1.ObjectMeta{Name: "opcrew-nodepool-rights"}})
	name := s.nodes(1, map[string]string{s.role(): ""})[0]
	s.await(nodesv1.NodePoolReady, "False PolicyMissing", "spec.onJoin", "opcrew-nodepool-rights")
	if !joining(s.node(name)) || len(s.steps()) > 0 {
		t.Errorf("expected no step, got %q", keys(s.steps()))
	}
	bind()
	s.change(`{"metadata":{"labels":{"note":"a"}}}`)
	s.joined(name)
}
