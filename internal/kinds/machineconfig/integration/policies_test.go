// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"bytes"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/api/common"
	mcfgv1 "github.com/opcrew/opcrew/api/machineconfiguration/v1"
	"github.com/opcrew/opcrew/internal/podapi/hostconfig"
	"github.com/opcrew/opcrew/internal/podapi/machineorder"
	"github.com/opcrew/opcrew/test/testenv"
	"github.com/opcrew/opcrew/test/testenv/machineagents"
	"github.com/opcrew/opcrew/test/testenv/operator"
)

// agentOf returns a client with the rights of a machine agent whose token is bound to a Node.
func agentOf(t *testing.T, node string) client.Client {
	t.Helper()
	config := env.ConfigAs(testenv.ServiceAccountUser(machineorder.Namespace, machineorder.ServiceAccount))
	config.Impersonate.Extra = map[string][]string{"authentication.kubernetes.io/node-name": {node}}
	return env.ClientFor(t, rest.CopyConfig(config))
}

func TestAMachineAgentMayOnlyReportAboutItsOwnNode(t *testing.T) {
	env.Deployed(t)
	names := env.Nodes(t, 2, testenv.NodeSpec{Prefix: "confined"})
	agent := agentOf(t, names[0])
	try := func(name, patch string) error {
		return agent.Patch(t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}, client.RawPatch(types.MergePatchType, []byte(patch)), client.DryRunAll)
	}
	report := `{"metadata":{"annotations":{"machineconfiguration.openshift.io/state":"Done","opcrew.io/machine-report":"{}"}}}`
	operator.Until(t, "an agent may report about its own node", func() error { return try(names[0], report) })
	for what, err := range map[string]error{
		"report about another node": try(names[1], report),
		"write an order":            try(names[0], `{"metadata":{"annotations":{"opcrew.io/machine-order":"{}"}}}`),
		"write desiredConfig":       try(names[0], `{"metadata":{"annotations":{"machineconfiguration.openshift.io/desiredConfig":"x"}}}`),
		"remove an annotation":      try(names[0], `{"metadata":{"annotations":{"kwok.x-k8s.io/node":null}}}`),
		"set a label":               try(names[0], `{"metadata":{"labels":{"node-role.kubernetes.io/gold":""}}}`),
		"set a taint":               try(names[0], `{"spec":{"taints":[{"key":"a","effect":"NoExecute"}]}}`),
		"cordon":                    try(names[0], `{"spec":{"unschedulable":true}}`),
		"request a free token":      requestToken(t, agent, nil),
		"request another token":     requestToken(t, agent, node(t, names[1])),
	} {
		if !apierrors.IsForbidden(err) && !apierrors.IsInvalid(err) {
			t.Errorf("expected an agent not to be able to %s, got %v", what, err)
		}
	}
	if err := requestToken(t, agent, node(t, names[0])); err != nil {
		t.Errorf("expected an agent to renew its token, got %v", err)
	}
}

func TestAMachineAgentCannotReadTheKeysOfHashes(t *testing.T) {
	env.Deployed(t)
	agent := agentOf(t, env.Nodes(t, 1, testenv.NodeSpec{Prefix: "curious"})[0])
	key := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: keys, Name: "hash-key-curious"}}
	create(t, key)
	if err := agent.Get(t.Context(), client.ObjectKeyFromObject(key), &corev1.Secret{}); !apierrors.IsForbidden(err) {
		t.Errorf("expected an agent not to be able to read the key of a pool, got %v", err)
	}
}

func requestToken(t *testing.T, agent client.Client, bound *corev1.Node) error {
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: machineorder.Namespace, Name: machineorder.ServiceAccount}}
	request := &authenticationv1.TokenRequest{}
	if bound != nil {
		request.Spec.BoundObjectRef = &authenticationv1.BoundObjectReference{APIVersion: "v1", Kind: "Node", Name: bound.Name, UID: bound.UID}
	}
	return agent.SubResource("token").Create(t.Context(), account, request)
}

// keys is the namespace with the keys of hashes.
const keys = "opcrew-machine-keys"

func TestDataOfSecretsReachesHostsAndNoOtherObject(t *testing.T) {
	process := env.Operator(t)
	machineagents.Follow(t, env.Client)
	ns := env.Namespace(t)
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "welcome"}, StringData: map[string]string{"motd": "hunter2"}}
	bind := &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "opcrew"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "opcrew-machine-secrets"},
		Subjects: []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: operator.Namespace, Name: "opcrew-machines"}}}
	user := author(t, "sven", "sealed")
	names := nodesOf(t, "sealed", 1)
	mc := newConfig("sealed", "50-sealed", "")
	mc.Spec.Config.Raw = ignition("secret://" + ns + "/welcome/motd")
	create(t, secret, bind, newPool("sealed"))
	operator.Until(t, "opcrew may read the Secret", func() error {
		return env.ClientFor(t, env.ConfigAs(env.User)).Get(t.Context(), client.ObjectKeyFromObject(secret), &corev1.Secret{})
	})
	operator.Until(t, "sven creates a config that refers to a Secret", func() error { return user.Create(t.Context(), mc) })
	t.Cleanup(func() { _ = env.Client.Delete(t.Context(), mc) })
	await(t, "sealed", "the pool refuses what its author may not read", func(p *mcfgv1.MachineConfigPool) bool {
		c := condition(p, mcfgv1.PoolRenderDegraded)
		return c.Reason == common.ReasonRequesterMayNot && strings.Contains(c.Message, "sven") && strings.Contains(c.Message, "welcome")
	})
	merge(t, mc, `{"metadata":{"annotations":{"example.com/by":"admin"}},"spec":{"kernelArguments":["quiet"]}}`) // now by the administrator
	p := awaitUpdated(t, "sealed", 1, "")
	if err := env.Client.Get(t.Context(), client.ObjectKey{Namespace: keys, Name: "hash-key-sealed"}, &corev1.Secret{}); err != nil {
		t.Errorf("expected the key of the pool's hashes where agents have no rights, got %v", err)
	}
	delivered := &corev1.Secret{}
	if err := env.Client.Get(t.Context(), client.ObjectKey{Namespace: machineorder.Namespace, Name: p.Spec.Configuration.Name}, delivered); err != nil {
		t.Fatal(err)
	}
	if config, err := hostconfig.Parse(delivered.Data[machineorder.SecretKey]); err != nil || motd(config) != "hunter2" {
		t.Errorf("expected the data of the Secret in the delivered configuration, got %v (%v)", config, err)
	}
	rendered := &mcfgv1.MachineConfig{}
	if err := env.Client.Get(t.Context(), client.ObjectKey{Name: p.Spec.Configuration.Name}, rendered); err != nil || bytes.Contains(rendered.Spec.Config.Raw, []byte("hunter2")) {
		t.Errorf("expected no data of the Secret in the rendered MachineConfig, got %s (%v)", rendered.Spec.Config.Raw, err)
	}
	expectSettled(t, names[0], p.Spec.Configuration.Name)
	process.Stop()
}
