// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package netpolicy

import (
	"context"
	"errors"
	"net/netip"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
)

func TestTheTableIsReplacedAsAWholeAndHasAChainForEachSideOfAPod(t *testing.T) {
	tcp := func(from, to int32) portRange { return portRange{corev1.ProtocolTCP, from, to} }
	got := render([]guard{{
		name: "x/a", address: netip.MustParseAddr("10.0.0.10"),
		ingress: &side{[]allowance{
			{nil, []portRange{tcp(80, 80), {protocol: corev1.ProtocolUDP}}},
			{[]block{{prefix: netip.MustParsePrefix("10.0.0.20/32")}, {prefix: netip.MustParsePrefix("10.0.0.30/32")}}, []portRange{tcp(8000, 8080)}},
			{[]block{{netip.MustParsePrefix("10.0.1.0/24"), []netip.Prefix{netip.MustParsePrefix("10.0.1.7/32")}}}, nil},
		}},
		egress: &side{},
	}})
	want := `add table inet network-policy
delete table inet network-policy
table inet network-policy {
	chain out-10-0-0-10 {
		comment "x/a"
		ip daddr 10.0.0.10 return
		counter drop
	}
	chain in-10-0-0-10 {
		comment "x/a"
		ip saddr 10.0.0.10 return
		tcp dport 80 return
		meta l4proto udp return
		ip saddr { 10.0.0.20, 10.0.0.30 } tcp dport 8000-8080 return
		ip saddr 10.0.1.0/24 ip saddr != 10.0.1.7/32 return
		counter drop
	}
	chain forward {
		type filter hook forward priority 10; policy accept;
		ct state established,related accept
		ip saddr vmap { 10.0.0.10 : jump out-10-0-0-10 }
		ip daddr vmap { 10.0.0.10 : jump in-10-0-0-10 }
	}
	chain input {
		type filter hook input priority 10; policy accept;
		ct state established,related accept
		ip saddr vmap { 10.0.0.10 : jump out-10-0-0-10 }
	}
}
`
	if got != want {
		t.Errorf("expected\n%s\ngot\n%s", want, got)
	}
}

func TestWithoutPoliciesNothingIsDropped(t *testing.T) {
	if got := render(nil); strings.Contains(got, "drop") || strings.Contains(got, "vmap") {
		t.Errorf("expected no rule that drops, got\n%s", got)
	}
}

// running starts an agent in a fake cluster with one pod on node1. The agent passes its nft scripts to apply, and the
// channel then receives them.
func running(t *testing.T, apply func(string) error) (*fake.Clientset, chan string) {
	t.Helper()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "x", Name: "a"}, Spec: corev1.PodSpec{NodeName: "node1"}, Status: corev1.PodStatus{PodIP: "10.0.0.10"}}
	client, scripts := fake.NewClientset(pod, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "x"}}), make(chan string, 100)
	a := &agent{node: "node1", factory: informers.NewSharedInformerFactory(client, 0), changed: make(chan struct{}, 1)}
	a.apply = func(_ context.Context, text string) error {
		scripts <- text
		return apply(text)
	}
	if err := a.watch(); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	a.factory.Start(ctx.Done())
	a.factory.WaitForCacheSync(ctx.Done())
	ended := make(chan error, 1)
	go func() { ended <- a.loop(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("expected the agent to end without an error, got %v", err)
		}
		a.factory.Shutdown()
	})
	return client, scripts
}

func next(t *testing.T, scripts chan string) string {
	t.Helper()
	select {
	case text := <-scripts:
		return text
	case <-time.After(20 * time.Second):
		t.Fatal("expected the agent to install rules, and it did not")
		return ""
	}
}

func TestTheAgentInstallsRulesForAPolicyAndTakesThemBack(t *testing.T) {
	client, scripts := running(t, func(string) error { return nil })
	if text := next(t, scripts); strings.Contains(text, "drop") {
		t.Errorf("expected no restriction without a policy, got\n%s", text)
	}
	policies := client.NetworkingV1().NetworkPolicies("x")
	policy := &networkingv1.NetworkPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: "x", Name: "deny"}}
	if _, err := policies.Create(t.Context(), policy, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if text := next(t, scripts); !strings.Contains(text, "chain in-10-0-0-10") {
		t.Errorf("expected the pod to be closed, got\n%s", text)
	}
	if err := policies.Delete(t.Context(), "deny", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if text := next(t, scripts); strings.Contains(text, "drop") {
		t.Errorf("expected the pod to be open again, got\n%s", text)
	}
}

func TestRulesThatCouldNotBeInstalledAreTriedAgain(t *testing.T) {
	failures := 1
	_, scripts := running(t, func(string) error {
		if failures--; failures >= 0 {
			return errors.New("busy")
		}
		return nil
	})
	if first, second := next(t, scripts), next(t, scripts); first != second {
		t.Errorf("expected the same rules again, got\n%s\nand\n%s", first, second)
	}
}
