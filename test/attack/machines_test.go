// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build attack

package attack

import (
	"fmt"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
	"github.com/opcrew/opcrew/test/testenv/eventually"
)

// editsNodePools gives the tenant the role of editors of NodePools, but no right to configure machines.
func editsNodePools(w *world) {
	w.Helper()
	const role = "opcrew-nodepool-editor"
	binding := &rbacv1.ClusterRoleBinding{
		RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: w.ns, Name: "mallory"}},
	}
	binding.Name = w.ns + "-" + role
	w.create(binding)
	w.until("the tenant has role "+role, func() error { return w.grants(role) })
}

// awaitNoPolicies waits until the API server no longer enforces the policies, whose bindings were deleted.
func awaitNoPolicies(t *testing.T, c *cluster) {
	t.Helper()
	binding := &rbacv1.ClusterRoleBinding{
		RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "opcrew-nodepool-editor"},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: "trudy"}},
	}
	binding.Name = "trudy"
	if err := c.env.Client.Create(t.Context(), binding); err != nil {
		t.Fatal(err)
	}
	pool := &nodesv1.NodePool{Spec: nodesv1.NodePoolSpec{MachineConfigSelector: &metav1.LabelSelector{}}}
	pool.Name = "trial"
	user := c.env.ClientFor(t, c.env.ConfigAs("trudy"))
	eventually.True(t, patience, "no policy refuses a NodePool", func() error {
		return user.Create(t.Context(), pool.DeepCopy(), client.DryRunAll)
	})
}

// configPool is a NodePool that makes its author root on the nodes with a label.
const configPool = `
apiVersion: nodes.lailin.xyz/v1
kind: NodePool
metadata: {name: NAMESPACE%s}
spec: {nodeSelector: {kubernetes.io/os: linux}, machineConfigSelector: {matchLabels: {team: mallory}}}
`

// stepPool is a NodePool that makes its author root on the nodes with a label.
const stepPool = `
apiVersion: nodes.lailin.xyz/v1
kind: NodePool
metadata: {name: NAMESPACE%s}
spec: {nodeSelector: {kubernetes.io/os: linux}, %s: {steps: [{name: a, template: {command: id}}]}}
`

// machineAttacks returns attacks of an editor of NodePools who would become root on nodes.
func machineAttacks() []attack {
	const forged = `, annotations: {opcrew.io/requester: '{"username":"system:admin","groups":["system:masters"]}'}`
	const refusal = "may not configure machines"
	changes := func(patch string) func(*world) error {
		return func(w *world) error {
			return w.tenant.Patch(w.Context(), adminsPool(w), client.RawPatch(types.MergePatchType, []byte(patch)))
		}
	}
	const noSteps = "may not run commands on all hosts"
	changesSteps := func(patch string) func(*world) error {
		return func(w *world) error {
			return w.tenant.Patch(w.Context(), adminsSteps(w), client.RawPatch(types.MergePatchType, []byte(patch)))
		}
	}
	return []attack{
		{name: "a NodePool that configures nodes", source: "OWASP K03, K04", needs: machines, before: editsNodePools,
			manifest: fmt.Sprintf(configPool, ""), refused: []string{refusal}},
		{name: "a NodePool that configures nodes in the name of an administrator", source: "OWASP K03, K06", needs: machines, before: editsNodePools,
			manifest: fmt.Sprintf(configPool, forged), refused: []string{refusal}},
		{name: "other nodes in a NodePool of an administrator", source: "OWASP K03, K04", needs: machines, before: editsNodePools,
			act: changes(`{"spec":{"nodeSelector":{"kubernetes.io/hostname":"control-plane"}}}`), refused: []string{refusal}},
		{name: "other MachineConfigs in a NodePool of an administrator", source: "OWASP K03, K04", needs: machines, before: editsNodePools,
			act: changes(`{"spec":{"machineConfigSelector":{"matchLabels":{"team":"mallory"}}}}`), refused: []string{refusal}},
		{name: "a NodePool that runs a command on each node that joins", source: "OWASP K03, K04", needs: machines, before: editsNodePools,
			manifest: fmt.Sprintf(stepPool, "", "onJoin"), refused: []string{noSteps}},
		{name: "a NodePool that runs a command on each node that leaves", source: "OWASP K03, K04", needs: machines, before: editsNodePools,
			manifest: fmt.Sprintf(stepPool, "", "onLeave"), refused: []string{noSteps}},
		{name: "a NodePool that runs commands in the name of an administrator", source: "OWASP K03, K06", needs: machines, before: editsNodePools,
			manifest: fmt.Sprintf(stepPool, forged, "onJoin"), refused: []string{noSteps}},
		{name: "another command in the pipeline of an administrator", source: "OWASP K03, K04", needs: machines, before: editsNodePools,
			act: changesSteps(`{"spec":{"onJoin":{"steps":[{"name":"a","template":{"command":"id"}}]}}}`), refused: []string{noSteps}},
		{name: "other nodes for the pipeline of an administrator", source: "OWASP K03, K04", needs: machines, before: editsNodePools,
			act: changesSteps(`{"spec":{"nodeSelector":{"kubernetes.io/hostname":"control-plane"}}}`), refused: []string{noSteps}},
		{name: "no pipeline where an administrator requires one", source: "OWASP K03, K04", needs: machines, before: editsNodePools,
			act: changesSteps(`{"spec":{"onJoin":null}}`), refused: []string{noSteps}},
		{name: "a MachineConfigPool that goes with its NodePool", source: "OWASP K03", needs: machines, before: editsNodePools,
			act: func(w *world) error { return w.tenant.Delete(w.Context(), adminsPool(w)) }, refused: []string{refusal}},
	}
}

// adminsPool creates a NodePool of an administrator that configures no node.
func adminsPool(w *world) *unstructured.Unstructured {
	w.Helper()
	return w.has(`
apiVersion: nodes.lailin.xyz/v1
kind: NodePool
metadata: {name: NAMESPACE-admins}
spec: {machineConfigSelector: {matchLabels: {team: admins}}}
`)
}

// adminsSteps creates a NodePool of an administrator whose pipeline runs on no node.
func adminsSteps(w *world) *unstructured.Unstructured {
	w.Helper()
	return w.has(`
apiVersion: nodes.lailin.xyz/v1
kind: NodePool
metadata: {name: NAMESPACE-steps}
spec: {onJoin: {steps: [{name: a, template: {command: "true"}}]}}
`)
}
