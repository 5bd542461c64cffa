// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	"github.com/opcrew/opcrew/test/testenv/operator"
)

const group = "ego.example.com"

func rule(resource, verb string, names ...string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{APIGroups: []string{group}, Resources: []string{resource}, Verbs: []string{verb}, ResourceNames: names}
}

// grant gives a user the given rights, and full access to Activities in the namespace. revoke removes both again.
func (s *site) grant(who string, rules ...rbacv1.PolicyRule) (revoke func()) {
	s.Helper()
	subjects := []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: who}}
	role, everywhere := &rbacv1.Role{}, &rbacv1.ClusterRole{}
	for _, r := range rules {
		if r.Resources[0] == "activities" {
			role.Rules = append(role.Rules, r)
		} else {
			everywhere.Rules = append(everywhere.Rules, r)
		}
	}
	role.Namespace, role.GenerateName, everywhere.GenerateName = s.ns, "grant-", "grant-"
	s.made(role)
	s.made(everywhere)
	binding, bindings := &rbacv1.RoleBinding{Subjects: subjects}, &rbacv1.ClusterRoleBinding{Subjects: subjects}
	binding.Namespace, binding.Name, bindings.Name = s.ns, role.Name, everywhere.Name
	binding.RoleRef = rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role.Name}
	bindings.RoleRef = rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: everywhere.Name}
	s.made(binding)
	s.made(bindings)
	revoke = func() {
		ctx := context.WithoutCancel(s.Context())
		err := errors.Join(env.Client.Delete(ctx, binding), env.Client.Delete(ctx, bindings), env.Client.Delete(ctx, everywhere))
		if client.IgnoreNotFound(err) != nil {
			s.Error(err)
		}
	}
	s.Cleanup(func() { _ = env.Client.Delete(context.WithoutCancel(s.Context()), bindings) }) // the object may already be deleted
	return revoke
}

// secretsCanBeRead binds the role with which opcrew may read the Secrets of the namespace, as an administrator would.
func (s *site) secretsCanBeRead() {
	s.Helper()
	binding := &rbacv1.RoleBinding{
		RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "opcrew-activity-secrets-machines"},
		Subjects: []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: operator.Namespace, Name: "opcrew-machines"}},
	}
	binding.Namespace, binding.Name = s.ns, "opcrew-activity-secrets"
	s.made(binding)
}

func (s *site) made(object client.Object) {
	s.Helper()
	if err := env.Client.Create(s.Context(), object); err != nil {
		s.Fatal(err)
	}
}

func (s *site) as(who string) client.Client {
	return env.ClientFor(s.T, env.ConfigAs(who, "system:authenticated"))
}

// try repeats an action of a user until the API server responds as expected, because new rights take a moment to be
// enforced. words are part of the expected rejection; "" if the action should succeed.
func (s *site) try(what string, words string, do func() error) {
	s.Helper()
	operator.Until(s.T, what, func() error {
		err := do()
		switch {
		case words == "":
			return err
		case err != nil && strings.Contains(err.Error(), words):
			return nil
		default:
			return fmt.Errorf("expected a refusal with %q, got %w", words, err)
		}
	})
}

func TestWhoMayRunWhatWhereIsARightLikeAnyOther(t *testing.T) {
	s := newSite(t)
	editor := rule("activities", "*")
	s.grant("eve", editor)
	s.grant("bob", editor, rule("hosts", "run", s.hosts[0]))
	s.grant("ada", editor, rule("hosts", "run", s.hosts[0]), rule("hostusers", "run-as", "www-data"))
	s.bind("lord", "cluster-admin") // cluster-admin in this namespace only, as the administrator of a namespace may have
	asWWW := func(a *egov1.Activity) { a.Spec.ExecUser = "www-data" }
	elsewhere := func(a *egov1.Activity) { a.Spec.Host = s.hosts[1] }
	for _, c := range []struct {
		who, words string
		options    []option
	}{
		{"eve", "eve may not run commands on host " + s.hosts[0], []option{asWWW}},
		{"bob", "bob may not run commands as user www-data", []option{asWWW}},
		{"ada", "ada may not run commands as user root", nil},
		{"ada", "ada may not run commands on host " + s.hosts[1], []option{asWWW, elsewhere}},
		{"ada", "", []option{asWWW}},
		{"lord", "lord may not run commands on host", nil},
		{"unprivileged", "cannot create resource", []option{asWWW}},
	} {
		s.try(c.who+" tries", c.words, func() error {
			return s.as(c.who).Create(s.Context(), s.declared("try", "true", c.options...), client.DryRunAll)
		})
	}
}

func TestAScheduleIsResumedByWhoMayRunIt(t *testing.T) {
	s := newSite(t)
	s.grant("bob", rule("activities", "*"))
	s.create("nightly", "true", func(a *egov1.Activity) { a.Spec.Schedule, a.Spec.Suspend = new("* * * * *"), new(true) })
	s.await("nightly", egov1.StateSuspended)
	resume := client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"suspend":false}}`))
	s.try("bob resumes what runs in another's name", "bob may not run commands on host", func() error {
		return s.as("bob").Patch(s.Context(), s.declared("nightly", ""), resume)
	})
}

func TestTheRequesterIsTheUserWhoCreatedTheActivity(t *testing.T) {
	s := newSite(t)
	rights := []rbacv1.PolicyRule{rule("activities", "*"), rule("hosts", "run"), rule("hostusers", "run-as")}
	s.grant("ada", rights...)
	s.grant("bob", rule("activities", "*"))
	a := s.declared("chore", "true", func(a *egov1.Activity) { a.Spec.Requester = &egov1.Requester{Username: "root-of-all"} })
	s.try("ada makes one", "", func() error { return s.as("ada").Create(s.Context(), a) })
	if got := a.Spec.Requester.Username; got != "ada" {
		t.Errorf("expected ada to be the requester whatever she wrote, got %s", got)
	}
	s.await("chore", egov1.StateSucceeded)

	again := client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"run":2}}`))
	s.try("bob asks for a run in ada's name", "bob may not run commands on host", func() error {
		return s.as("bob").Patch(s.Context(), s.declared("chore", ""), again)
	})
	forge := client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"requester":{"username":"root-of-all"}}}`))
	if err := s.as("bob").Patch(s.Context(), s.declared("chore", ""), forge); err == nil || !strings.Contains(err.Error(), "who asked for a run cannot be changed") {
		t.Errorf("expected the API server to refuse another requester, got %v", err)
	}
	if got := s.get("chore").Spec.Requester.Username; got != "ada" {
		t.Errorf("expected ada to stay the requester, got %s", got)
	}
}

// opcrew checks rights again when the run of an Activity starts, because they may have been revoked since admission.
func TestRightsThatWereTakenSinceStopARun(t *testing.T) {
	s := newSite(t)
	s.operator.Stop()
	revoke := s.grant("ada", rule("hosts", "run"), rule("hostusers", "run-as"))
	s.grant("ada", rule("activities", "*"))
	s.try("ada makes one", "", func() error { return s.as("ada").Create(s.Context(), s.declared("chore", "true")) })
	revoke()
	s.try("ada has no rights any more", "may not run", func() error {
		return s.as("ada").Create(s.Context(), s.declared("other", "true"), client.DryRunAll)
	})
	s.operator.Start()
	a := s.await("chore", egov1.StateRefused, "ada has no right to run hosts."+group)
	if n := len(s.pods(a)); n > 0 {
		t.Errorf("expected no pod, got %d", n)
	}
}

func TestASecretIsOnlyForWhoMayReadIt(t *testing.T) {
	s := newSite(t)
	s.grant("ada", rule("activities", "*"), rule("hosts", "run"), rule("hostusers", "run-as"))
	s.try("ada makes one", "", func() error {
		return s.as("ada").Create(s.Context(), s.declared("chore", "true", func(a *egov1.Activity) {
			a.Spec.SecretEnvs = []egov1.SecretEnv{{Name: "TOKEN", Secret: "of-others", Key: "token"}}
		}))
	})
	s.await("chore", egov1.StateRefused, "ada has no right to get secrets of-others")
}

func TestAControlPlaneNodeNeedsARightOfItsOwn(t *testing.T) {
	s := newSite(t)
	label := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"labels":{"node-role.kubernetes.io/control-plane":""}}}`))
	if err := env.Client.Patch(t.Context(), node(s.hosts[0]), label); err != nil {
		t.Fatal(err)
	}
	s.grant("ada", rule("activities", "*"), rule("hosts", "run"), rule("hostusers", "run-as"))
	s.try("ada makes one", "", func() error { return s.as("ada").Create(s.Context(), s.declared("chore", "true")) })
	s.await("chore", egov1.StateRefused, "ada has no right to run-on-control-plane hosts."+group)
	s.create("allowed", "true") // created by the administrator, who has all rights
	s.await("allowed", egov1.StateSucceeded)
}

func TestWithoutThePolicyNothingRuns(t *testing.T) {
	s := newSite(t)
	s.create("before", "true")
	s.await("before", egov1.StateSucceeded)
	binding := policyBinding()
	if err := env.Client.Get(t.Context(), client.ObjectKeyFromObject(binding), binding); err != nil {
		t.Fatal(err)
	}
	if err := env.Client.Delete(t.Context(), binding); err != nil {
		t.Fatal(err)
	}
	s.create("chore", "true")
	s.await("chore", egov1.StatePending, "opcrew-activity-rights is not in force")
	binding.ResourceVersion, binding.UID = "", ""
	if err := env.Client.Create(t.Context(), binding); err != nil {
		t.Fatal(err)
	}
	s.await("chore", egov1.StateRefused, "before the admission policy opcrew-activity-rights was in force")
	s.patch("chore", `{"spec":{"cancel":true}}`)
	s.delete("chore")
}

// readers lets a user read the Secret with the keys for SSH.
func (s *site) readers(who string) error {
	role := &rbacv1.Role{Rules: []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"get"}, ResourceNames: []string{logins}}}}
	role.Namespace, role.Name = s.ns, "logins"
	binding := &rbacv1.RoleBinding{
		RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role.Name},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: who}},
	}
	binding.Namespace, binding.Name = s.ns, "logins"
	return errors.Join(client.IgnoreAlreadyExists(env.Client.Create(s.Context(), role)), client.IgnoreAlreadyExists(env.Client.Create(s.Context(), binding)))
}
