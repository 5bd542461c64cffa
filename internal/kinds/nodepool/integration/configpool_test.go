// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/api/common"
	mcfgv1 "github.com/opcrew/opcrew/api/machineconfiguration/v1"
	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
	"github.com/opcrew/opcrew/internal/kinds/machineconfig"
	"github.com/opcrew/opcrew/internal/kinds/nodepool"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/podapi/machineorder"
	"github.com/opcrew/opcrew/test/testenv"
	"github.com/opcrew/opcrew/test/testenv/machineagents"
	"github.com/opcrew/opcrew/test/testenv/operator"
)

// machines is a server on which a test installs MachineConfig, with the helpers that its steps need.
type machines struct {
	*testing.T
	*operator.Suite
	process *operator.Process
	node    string // the node of pool gold
}

// The steps share a server, because most of the time of such a test is the start of a server.
func TestANodePoolConfiguresItsNodes(t *testing.T) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, nodepool.Kind().AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	server := testenv.Start(t, testenv.Options{
		CRDs: []string{testenv.ProjectCRDs + "/nodes.lailin.xyz_nodepools.yaml"}, Scheme: scheme, NodeGrace: 2 * time.Minute,
	})
	m := &machines{T: t, Suite: operator.New(server, nodepool.Kind())}
	ended := m.alone()
	m.needsMachineConfig()
	m.Suite = operator.New(server, nodepool.Kind(), machineconfig.Kind())
	m.Deployed(t) // installs MachineConfig
	select {
	case err := <-ended:
		if !errors.Is(err, kit.ErrRestart) {
			t.Fatalf("expected the operator to restart when MachineConfig is installed, it ended with %v", err)
		}
	case <-time.After(operator.Long):
		t.Fatal("expected the operator to restart when MachineConfig is installed")
	}
	m.process = m.Operator(t)
	machineagents.Follow(t, m.Client)
	m.node = m.Nodes(t, 1, testenv.NodeSpec{Prefix: "gold", Labels: labelMap{"node-role.kubernetes.io/gold": ""}})[0]
	for _, step := range []struct {
		name string
		run  func(*machines)
	}{
		{"its nodes get the configuration", (*machines).getsTheConfiguration},
		{"fields of users survive, and selectors do not", (*machines).keepsFieldsOfUsers},
		{"a pool of another owner stays", (*machines).leavesOthersAlone},
		{"only who may configure machines may set the field", (*machines).needsTheRight},
		{"its requester is checked, and not the operator", (*machines).checksTheRequester},
		{"no record is trusted without the policy", (*machines).trustsThePolicyOnly},
		{"nodes keep their configuration without the field", (*machines).keepsConfigurations},
		{"the pool goes with the NodePool", (*machines).goesWithTheNodePool},
	} {
		t.Run(step.name, func(t *testing.T) { step.run(&machines{t, m.Suite, m.process, m.node}) })
	}
}

// alone starts an operator that serves only NodePools, and returns a channel with the error with which it ends.
func (m *machines) alone() <-chan error {
	m.Helper()
	mgr, err := kit.NewManager(m.Deployed(m.T), kit.Options{
		Kinds: []kit.Registration{nodepool.Kind()}, MetricsAddress: "0", ProbeAddress: "0", Registry: prometheus.NewRegistry(),
		Clock: clock.RealClock{}, ShutdownTimeout: 10 * time.Second,
	})
	if err != nil {
		m.Fatal(err)
	}
	ended := make(chan error, 1)
	ctx, cancel := context.WithCancel(context.WithoutCancel(m.Context()))
	m.Cleanup(cancel)
	go func() { ended <- mgr.Start(ctx) }()
	return ended
}

func (m *machines) needsMachineConfig() {
	operator.Until(m, "the API server records requesters, also without MachineConfig", func() error {
		trial := configuring("trial")
		err := m.Client.Create(m.Context(), trial, client.DryRunAll)
		if err == nil && trial.Annotations[common.RequesterAnnotation] == "" {
			err = errors.New("no policy records the requester yet")
		}
		return err
	})
	m.must(m.Client.Create(m.Context(), configuring("gold")))
	m.await("gold", nodesv1.NodePoolReady, "False MachineConfigMissing", "make install-machineconfig")
	m.await("gold", nodesv1.NodePoolRuntimeClassReady, "True AsDeclared")
}

func (m *machines) getsTheConfiguration() {
	mc := &mcfgv1.MachineConfig{ObjectMeta: metav1.ObjectMeta{Name: "50-gold", Labels: labelMap{mcfgv1.RoleLabel: "gold"}}}
	mc.Spec.Config.Raw = motd("gold")
	m.must(m.Client.Create(m.Context(), mc))
	m.await("gold", nodesv1.NodePoolConfigured, "True AllUpdated", "MachineConfigPool gold")
	m.await("gold", nodesv1.NodePoolReady, "True AsWanted")
	p, pool := m.configPool("gold"), m.pool("gold")
	if !metav1.IsControlledBy(p, pool) || p.Annotations[common.RequesterAnnotation] != pool.Annotations[common.RequesterAnnotation] {
		m.Errorf("expected the NodePool as owner, and its requester %s, got %+v", pool.Annotations[common.RequesterAnnotation], p.ObjectMeta)
	}
	if who := pool.Annotations[common.RequesterAnnotation]; strings.Contains(who, "opcrew") || !strings.Contains(who, `"username"`) {
		m.Errorf("expected the administrator as the requester, got %s", who)
	}
	m.hasItsConfiguration()
	m.process.ExpectNoWork(func() { m.change(pool, `{"metadata":{"annotations":{"example.com/seen":"1"}}}`) })
}

func (m *machines) keepsFieldsOfUsers() {
	m.change(m.configPool("gold"), `{"spec":{"paused":true,"maxUnavailable":2}}`)
	for _, patch := range []string{
		`{"spec":{"nodeSelector":{"matchLabels":{"example.com/more":"x"}}}}`,
		`{"spec":{"machineConfigSelector":{"matchLabels":{"example.com/more":"x"}}}}`,
		`{"spec":{"machineConfigSelector":null}}`,
	} {
		mark := m.Audit.Mark(m)
		m.change(m.configPool("gold"), patch)
		operator.Until(m, "the selectors are restored after "+patch, func() error {
			s := m.configPool("gold").Spec
			if s.MachineConfigSelector == nil || len(s.MachineConfigSelector.MatchLabels) != 1 || len(s.NodeSelector.MatchLabels) != 1 {
				return fmt.Errorf("they are %v and %v", s.MachineConfigSelector, s.NodeSelector)
			}
			return nil
		})
		// A change of the MachineConfigs also makes opcrew write the rendered configuration, and its present one again.
		if writes := m.Settled(m.T, mark).Writes().On("machineconfigpools"); len(writes) > 3 || strings.Contains(patch, "nodeSelector") && len(writes) != 1 {
			m.Errorf("expected one write to restore the selectors after %s, got\n%s", patch, writes)
		}
	}
	if s := m.configPool("gold").Spec; !s.Paused || s.MaxUnavailable.IntValue() != 2 {
		m.Errorf("expected the fields of the user to stay, got %+v", s)
	}
	m.change(m.configPool("gold"), `{"spec":{"paused":false}}`)
}

func (m *machines) leavesOthersAlone() {
	theirs := &mcfgv1.MachineConfigPool{ObjectMeta: metav1.ObjectMeta{Name: "theirs"}}
	m.must(m.Client.Create(m.Context(), theirs))
	m.must(m.Client.Create(m.Context(), configuring("theirs")))
	m.await("theirs", nodesv1.NodePoolReady, "False NameTaken", "MachineConfigPool theirs already exists")
	m.await("theirs", nodesv1.NodePoolRuntimeClassReady, "True AsDeclared")
	m.change(m.pool("theirs"), `{"spec":{"machineConfigSelector":null}}`)
	m.must(m.Client.Delete(m.Context(), newPool("theirs")))
	m.gone(newPool("theirs"))
	if p := m.configPool("theirs"); p.UID != theirs.UID || p.Spec.NodeSelector != nil || p.DeletionTimestamp != nil {
		m.Errorf("expected the pool of another owner to stay as it is, got %+v", p)
	}
	m.must(m.Client.Delete(m.Context(), theirs))
}

func (m *machines) needsTheRight() {
	one, all := m.user("olga", "gold"), m.user("una")
	gold := m.pool("gold")
	try := func(user client.Client, patch string) error {
		return user.Patch(m.Context(), gold.DeepCopy(), client.RawPatch(types.MergePatchType, []byte(patch)), client.DryRunAll)
	}
	forged := configuring("forged")
	forged.Annotations = map[string]string{common.RequesterAnnotation: `{"username":"admin","groups":["system:masters"]}`}
	theirs := &mcfgv1.MachineConfigPool{ObjectMeta: metav1.ObjectMeta{Name: "not-hers"}}
	m.must(m.Client.Create(m.Context(), theirs))
	give := fmt.Sprintf(`{"metadata":{"ownerReferences":[{"apiVersion":"nodes.lailin.xyz/v1","kind":"NodePool","name":"gold","uid":%q,"controller":true}]}}`, gold.UID)
	for what, err := range map[string]error{
		"create a config pool":               one.Create(m.Context(), configuring("new"), client.DryRunAll),
		"forge a requester":                  one.Create(m.Context(), forged, client.DryRunAll),
		"select other MachineConfigs":        try(one, `{"spec":{"machineConfigSelector":{"matchLabels":{"machineconfiguration.openshift.io/role":"other"}}}}`),
		"select other nodes":                 try(one, `{"spec":{"nodeSelector":{"kubernetes.io/os":"linux"}}}`),
		"become the requester":               try(one, `{"metadata":{"annotations":{"opcrew.io/requester":"me"}}}`),
		"let a NodePool take another's pool": one.Patch(m.Context(), theirs.DeepCopy(), client.RawPatch(types.MergePatchType, []byte(give)), client.DryRunAll),
	} {
		if !apierrors.IsForbidden(err) {
			m.Errorf("expected olga not to be able to %s, got %v", what, err)
		}
	}
	for what, err := range map[string]error{
		"change taints":                    try(one, `{"spec":{"taints":[{"key":"example.com/a","effect":"NoSchedule"}]}}`),
		"remove the field of her own pool": try(one, `{"spec":{"machineConfigSelector":null}}`),
		"delete her own pool":              one.Delete(m.Context(), gold, client.DryRunAll),
	} {
		if err != nil {
			m.Errorf("expected olga to be able to %s, got %v", what, err)
		}
	}
	none := m.user("nora", "nothing")
	for what, err := range map[string]error{
		"remove the field": try(none, `{"spec":{"machineConfigSelector":null}}`),
		"delete the pool":  none.Delete(m.Context(), gold, client.DryRunAll),
	} {
		if !apierrors.IsForbidden(err) {
			m.Errorf("expected nora not to be able to %s, got %v", what, err)
		}
	}
	if err := all.Create(m.Context(), forged, client.DryRunAll); err != nil || !strings.Contains(forged.Annotations[common.RequesterAnnotation], "una") {
		m.Errorf("expected una to be recorded in place of the requester that she named, got %v (%v)", forged.Annotations, err)
	}
	m.must(m.Client.Delete(m.Context(), theirs))
}

func (m *machines) checksTheRequester() {
	una := m.user("una")
	pool := configuring("silver")
	m.must(una.Create(m.Context(), pool))
	m.await("silver", nodesv1.NodePoolConfigured, "True NoNodes")
	if who := m.configPool("silver").Annotations[common.RequesterAnnotation]; !strings.Contains(who, "una") {
		m.Errorf("expected una as the requester of the MachineConfigPool, got %s", who)
	}
	m.must(m.Client.Delete(m.Context(), &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "una"}}))
	operator.Until(m, "una has lost her rights", func() error {
		if err := una.Create(m.Context(), configuring("later"), client.DryRunAll); !apierrors.IsForbidden(err) {
			return fmt.Errorf("got %w", err)
		}
		return nil
	})
	mc := &mcfgv1.MachineConfig{ObjectMeta: metav1.ObjectMeta{Name: "50-silver", Labels: labelMap{mcfgv1.RoleLabel: "silver"}}}
	mc.Spec.Config.Raw = motd("silver")
	m.must(m.Client.Create(m.Context(), mc))
	m.await("silver", nodesv1.NodePoolReady, "False RequesterMayNot", "una", "silver")
	m.must(m.Client.Delete(m.Context(), pool))
	m.gone(pool)
}

func (m *machines) trustsThePolicyOnly() {
	before := m.configPool("gold").Annotations[common.RequesterAnnotation]
	meta := metav1.ObjectMeta{Name: "opcrew-nodepool-requester"}
	rights := metav1.ObjectMeta{Name: "opcrew-nodepool-rights"}
	bind := m.Unbind(m.T, &admissionv1.MutatingAdmissionPolicyBinding{ObjectMeta: meta}, &admissionv1.ValidatingAdmissionPolicyBinding{ObjectMeta: rights})
	forge := func(name string) error {
		patch := fmt.Sprintf(`{"metadata":{"annotations":{"opcrew.io/requester":"{\"username\":\"%s\"}"}}}`, name)
		p := m.pool("gold")
		if err := m.Client.Patch(m.Context(), p, client.RawPatch(types.MergePatchType, []byte(patch))); err != nil {
			return err
		}
		if got := p.Annotations[common.RequesterAnnotation]; !strings.Contains(got, name) {
			return fmt.Errorf("the record is %s", got)
		}
		return nil
	}
	operator.Until(m, "the requester can be forged, because no policy is in force", func() error { return forge("forged") })
	m.await("gold", nodesv1.NodePoolReady, "False PolicyMissing", "opcrew-nodepool-rights")
	if got := m.configPool("gold").Annotations[common.RequesterAnnotation]; got != before {
		m.Errorf("expected the MachineConfigPool to keep the requester %s, got %s", before, got)
	}
	bind()
	for try := 0; forge(fmt.Sprint("again-", try)) == nil; try++ { // until the policies are in force
		if try == 1000 {
			m.Fatal("expected the requester to be recorded again")
		}
	}
	// The policy that refuses a forged record can be in force before the one that replaces it.
	operator.Until(m, "the true requester is recorded", func() error {
		err := forge("mallory")
		switch {
		case err == nil:
			return errors.New("a forged record was not replaced")
		case strings.Contains(err.Error(), "the record is"):
			return nil
		}
		return err
	})
	m.await("gold", nodesv1.NodePoolConfigured, "True AllUpdated")
}

func (m *machines) keepsConfigurations() {
	m.change(m.pool("gold"), `{"spec":{"machineConfigSelector":null}}`)
	m.gone(&mcfgv1.MachineConfigPool{ObjectMeta: metav1.ObjectMeta{Name: "gold"}})
	m.await("gold", nodesv1.NodePoolReady, "True AsWanted")
	m.await("gold", nodesv1.NodePoolConfigured, " ")
	m.hasItsConfiguration()
}

func (m *machines) goesWithTheNodePool() {
	m.change(m.pool("gold"), `{"spec":{"machineConfigSelector":{"matchLabels":{"machineconfiguration.openshift.io/role":"gold"}}}}`)
	m.await("gold", nodesv1.NodePoolConfigured, "True AllUpdated")
	m.must(m.Client.Delete(m.Context(), m.pool("gold"), client.PropagationPolicy(metav1.DeletePropagationForeground)))
	m.gone(newPool("gold"))
	m.gone(&mcfgv1.MachineConfigPool{ObjectMeta: metav1.ObjectMeta{Name: "gold"}})
}

// configuring returns a NodePool with a selector of MachineConfigs.
func configuring(name string) *nodesv1.NodePool {
	return newPool(name, func(p *nodesv1.NodePool) {
		p.Spec.MachineConfigSelector = &metav1.LabelSelector{MatchLabels: labelMap{mcfgv1.RoleLabel: name}}
	})
}

func motd(text string) []byte {
	return fmt.Appendf(nil, `{"ignition":{"version":"3.4.0"},"storage":{"files":[{"path":"/etc/motd","contents":{"source":"data:,%s"}}]}}`, text)
}

func (m *machines) must(err error) {
	m.Helper()
	if err != nil {
		m.Fatal(err)
	}
}

func (m *machines) pool(name string) *nodesv1.NodePool {
	m.Helper()
	p := &nodesv1.NodePool{}
	m.must(m.Client.Get(m.Context(), client.ObjectKey{Name: name}, p))
	return p
}

func (m *machines) configPool(name string) *mcfgv1.MachineConfigPool {
	m.Helper()
	p := &mcfgv1.MachineConfigPool{}
	m.must(m.Client.Get(m.Context(), client.ObjectKey{Name: name}, p))
	return p
}

func (m *machines) change(object client.Object, patch string) {
	m.Helper()
	m.must(m.Client.Patch(m.Context(), object, client.RawPatch(types.MergePatchType, []byte(patch))))
}

// await waits until a condition of a NodePool has a status and reason, and its message contains the words.
func (m *machines) await(name, kind, statusReason string, words ...string) {
	m.Helper()
	operator.Until(m, fmt.Sprintf("%s of NodePool %s is %s", kind, name, statusReason), func() error {
		p := m.pool(name)
		c := conditionOf(p, kind)
		if string(c.Status)+" "+c.Reason != statusReason || p.Status.ObservedGeneration != p.Generation {
			text, _ := json.Marshal(p.Status.Conditions)
			return fmt.Errorf("the conditions are %s", text)
		}
		for _, word := range words {
			if !strings.Contains(c.Message, word) {
				return fmt.Errorf("it says %q", c.Message)
			}
		}
		return nil
	})
}

func (m *machines) gone(object client.Object) {
	m.Helper()
	operator.Until(m, object.GetName()+" is gone", func() error {
		if err := m.Client.Get(m.Context(), client.ObjectKeyFromObject(object), object); !apierrors.IsNotFound(err) {
			return fmt.Errorf("it exists, with finalizers %v (%w)", object.GetFinalizers(), err)
		}
		return nil
	})
}

func (m *machines) hasItsConfiguration() {
	m.Helper()
	n := &corev1.Node{}
	m.must(m.Client.Get(m.Context(), client.ObjectKey{Name: m.node}, n))
	if current := n.Annotations[machineorder.CurrentConfig]; !strings.HasPrefix(current, "rendered-gold-") {
		m.Errorf("expected the node to have a configuration of the pool, got %q", current)
	}
}

// user returns a client of a user who may edit NodePools and MachineConfigPools, and configure the machines of some
// pools; without pools, of all.
func (m *machines) user(name string, pools ...string) client.Client {
	m.Helper()
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{"nodes.lailin.xyz"}, Resources: []string{"nodepools"}, Verbs: []string{"*"}},
		{APIGroups: []string{mcfgv1.GroupVersion.Group}, Resources: []string{"machineconfigpools"}, Verbs: []string{"*"}},
		{APIGroups: []string{mcfgv1.GroupVersion.Group}, Resources: []string{"machines"}, ResourceNames: pools, Verbs: []string{"apply"}},
	}}
	binding := &rbacv1.ClusterRoleBinding{ObjectMeta: role.ObjectMeta, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: name}}}
	for _, object := range []client.Object{role, binding} {
		m.must(client.IgnoreAlreadyExists(m.Client.Create(m.Context(), object)))
	}
	user := m.ClientFor(m.T, m.ConfigAs(name))
	operator.Until(m, "the policy about rights is in force, and "+name+" has its roles", func() error {
		err := user.Create(m.Context(), configuring("anyones"), client.DryRunAll)
		if refused := err != nil && strings.Contains(err.Error(), "may not configure machines of all pools"); refused != (len(pools) > 0) || !refused && err != nil {
			return fmt.Errorf("got %w", err)
		}
		return nil
	})
	return user
}
