// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
	"github.com/opcrew/opcrew/internal/podapi/nodefirewall"
	"github.com/opcrew/opcrew/test/testenv/firewallagents"
	"github.com/opcrew/opcrew/test/testenv/operator"
)

func TestAPoolOpensTheFirewallOfTheHostOnRequest(t *testing.T) {
	makeNodes(t, 1, "opens", role("opens"))
	firewallagents.Follow(t, env.Client)
	env.Operator(t)
	createPool(t, newPool("opens", firewalled(nodesv1.FirewallRule{Ports: port(80)})))
	awaitReady(t, "opens", 1)
	hosts := func(exist bool) {
		t.Helper()
		operator.Until(t, fmt.Sprint("the DaemonSet of the host's firewall exists: ", exist), func() error {
			set := &appsv1.DaemonSet{}
			err := env.Client.Get(t.Context(), client.ObjectKey{Namespace: nodefirewall.Namespace, Name: nodefirewall.HostName}, set)
			if exist && err == nil && *set.Spec.Template.Spec.AutomountServiceAccountToken {
				t.Error("expected privileged pods to have no credentials")
			}
			if exist && err != nil || !exist && !apierrors.IsNotFound(err) {
				return fmt.Errorf("got %w", errors.Join(err, errors.New("not as expected")))
			}
			return nil
		})
	}
	hosts(false)
	editPool(t, "opens", func(p *nodesv1.NodePool) { p.Spec.Firewall.HostFirewall = nodesv1.HostFirewallOpen })
	hosts(true)
	awaitCondition(t, "opens", nodesv1.NodePoolFirewallActive, "True RulesActive", "another firewall has them as well", "ufw")
	if got, err := rulesOf(t, "opens"); err != nil || !got.OpenHost {
		t.Errorf("expected agents to open the host, got %+v, %v", got, err)
	}
	env.Settled(t, env.Audit.Mark(t))
	editPool(t, "opens", func(p *nodesv1.NodePool) { p.Spec.Firewall.HostFirewall = nodesv1.HostFirewallKeep })
	hosts(false)
	awaitAgents(t, true)
}

func TestOnlyAUserWhoMayOpenHostFirewallsOpensThem(t *testing.T) {
	env.Operator(t) // with the policies
	pool := newPool("guarded", firewalled(nodesv1.FirewallRule{Ports: port(80)}))
	pool.Spec.Firewall.HostFirewall = nodesv1.HostFirewallOpen
	createPool(t, pool)
	user := editorOf(t, "fiona")
	try := func(patch string) error {
		found := &nodesv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "guarded"}}
		return user.Patch(t.Context(), found, client.RawPatch(types.MergePatchType, []byte(patch)), client.DryRunAll)
	}
	created := newPool("guarded-too", firewalled())
	created.Spec.Firewall.HostFirewall = nodesv1.HostFirewallOpen
	for what, err := range map[string]error{
		"creates such a pool": user.Create(t.Context(), created, client.DryRunAll),
		"changes a rule":      try(`{"spec":{"firewall":{"rules":[{"ports":[{"port":81}]}]}}}`),
		"selects other nodes": try(`{"spec":{"nodeSelector":{"kubernetes.io/os":"linux"}}}`),
	} {
		if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "verb open on resource hostfirewalls") {
			t.Errorf("a user without the right %s: expected a refusal that names the right, got %v", what, err)
		}
	}
	for what, patch := range map[string]string{
		"closes the host":        `{"spec":{"firewall":{"hostFirewall":"Keep"}}}`,
		"removes the firewall":   `{"spec":{"firewall":null}}`,
		"changes something else": `{"spec":{"labels":{"a":"b"}}}`,
	} {
		if err := try(patch); err != nil {
			t.Errorf("a user without the right %s: expected no refusal, got %v", what, err)
		}
	}
	grant(t, "fiona", rbacv1.PolicyRule{APIGroups: []string{"nodes.lailin.xyz"}, Resources: []string{"hostfirewalls"}, Verbs: []string{"open"}})
	operator.Until(t, "fiona may change the rules", func() error {
		return try(`{"spec":{"firewall":{"rules":[{"ports":[{"port":81}]}]}}}`)
	})
}

// grant gives a user rights in the cluster.
func grant(t *testing.T, user string, rules ...rbacv1.PolicyRule) {
	t.Helper()
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{GenerateName: user + "-"}, Rules: rules}
	if err := env.Client.Create(t.Context(), role); err != nil {
		t.Fatal(err)
	}
	err := env.Client.Create(t.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: role.Name}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
	})
	if err != nil {
		t.Fatal(err)
	}
}

// editorOf returns a client of a user who may edit NodePools, and nothing else.
func editorOf(t *testing.T, name string) client.Client {
	t.Helper()
	grant(t, name, rbacv1.PolicyRule{APIGroups: []string{"nodes.lailin.xyz"}, Resources: []string{"nodepools"}, Verbs: []string{"*"}})
	user := env.ClientFor(t, env.ConfigAs(name))
	operator.Until(t, name+" may edit NodePools", func() error {
		return user.Create(t.Context(), &nodesv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "trial"}}, client.DryRunAll)
	})
	return user
}
