// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package netpolicy

import (
	"net/netip"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/yaml"
)

// The tests have pods a, b and c in namespaces x, y and z, as in Kubernetes' own tests in test/e2e/network/netpol. Each
// pod listens on named ports 80 and 81 of TCP and UDP. outside is the address of a machine without pods.
const outside = "192.0.2.1"

func model() world {
	w := world{namespaces: map[string]labels.Set{}}
	for i, namespace := range []string{"x", "y", "z"} {
		w.namespaces[namespace] = labels.Set{"ns": namespace, "kubernetes.io/metadata.name": namespace}
		for j, name := range []string{"a", "b", "c"} {
			pod := &corev1.Pod{}
			pod.Namespace, pod.Name, pod.Labels = namespace, name, map[string]string{"pod": name}
			pod.Spec.NodeName = "node1"
			pod.Status.PodIP = netip.AddrFrom4([4]byte{10, 0, byte(i), byte(10 * (j + 1))}).String()
			pod.Spec.Containers = []corev1.Container{{Ports: []corev1.ContainerPort{
				{Name: "serve-80-tcp", ContainerPort: 80, Protocol: corev1.ProtocolTCP}, {Name: "serve-81-tcp", ContainerPort: 81, Protocol: corev1.ProtocolTCP},
				{Name: "serve-80-udp", ContainerPort: 80, Protocol: corev1.ProtocolUDP},
			}}}
			w.pods = append(w.pods, pod)
		}
	}
	return w
}

// with adds policies with the given specs to namespace x.
func (w world) with(t *testing.T, specs ...string) world {
	t.Helper()
	for _, spec := range specs {
		policy := &networkingv1.NetworkPolicy{}
		policy.Namespace = "x"
		if err := yaml.UnmarshalStrict([]byte(spec), &policy.Spec); err != nil {
			t.Fatal(err)
		}
		w.policies = append(w.policies, policy)
	}
	return w
}

func (w world) address(name string) netip.Addr {
	for _, pod := range w.pods {
		if pod.Namespace+"/"+pod.Name == name {
			return addressOf(pod)
		}
	}
	return netip.MustParseAddr(name)
}

// permits reports whether a connection is permitted. It evaluates the compiled rules as the kernel does.
func (w world) permits(from, to, protocol string, port int32) bool {
	source, target := w.address(from), w.address(to)
	for _, g := range compile(w, "node1") {
		if g.address == source && !g.egress.permits(source, target, protocol, port) || g.address == target && !g.ingress.permits(target, source, protocol, port) {
			return false
		}
	}
	return true
}

func (s *side) permits(own, peer netip.Addr, protocol string, port int32) bool {
	return s == nil || own == peer || slices.ContainsFunc(s.allow, func(a allowance) bool {
		return (len(a.peers) == 0 || slices.ContainsFunc(a.peers, func(b block) bool { return b.contains(peer) })) &&
			(len(a.ports) == 0 || slices.ContainsFunc(a.ports, func(r portRange) bool {
				return string(r.protocol) == protocol && (r.from == 0 || r.from <= port && port <= r.to)
			}))
	})
}

func (b block) contains(address netip.Addr) bool {
	return b.prefix.Contains(address) && !slices.ContainsFunc(b.except, func(p netip.Prefix) bool { return p.Contains(address) })
}

// The case names are those of Kubernetes' test/e2e/network/netpol/network_policy.go.
func TestTheCasesOfKubernetesOwnTests(t *testing.T) {
	for name, c := range map[string]struct {
		policies        []string
		allowed, denied [][]any // from, to, protocol, port
	}{
		"should support a 'default-deny-ingress' policy": {
			[]string{`{podSelector: {}, policyTypes: [Ingress]}`},
			[][]any{{"x/a", "x/a", "TCP", 80}, {"x/a", "y/a", "TCP", 80}, {"x/a", outside, "TCP", 80}},
			[][]any{{"x/b", "x/a", "TCP", 80}, {"y/a", "x/a", "TCP", 80}, {outside, "x/c", "UDP", 80}},
		},
		"should support a 'default-deny-all' policy": {
			[]string{`{podSelector: {}, policyTypes: [Ingress, Egress]}`},
			[][]any{{"y/a", "y/b", "TCP", 80}},
			[][]any{{"x/b", "x/a", "TCP", 80}, {"y/a", "x/a", "TCP", 80}, {"x/a", "y/a", "TCP", 80}, {"x/a", outside, "UDP", 53}},
		},
		"should enforce policy to allow traffic from pods within server namespace based on PodSelector": {
			[]string{`{podSelector: {matchLabels: {pod: a}}, ingress: [{from: [{podSelector: {matchLabels: {pod: b}}}]}]}`},
			[][]any{{"x/b", "x/a", "TCP", 80}, {"x/c", "x/b", "TCP", 80}, {"y/b", "x/b", "TCP", 80}},
			[][]any{{"x/c", "x/a", "TCP", 80}, {"y/b", "x/a", "TCP", 80}},
		},
		"should enforce policy to allow ingress traffic for a target": {
			[]string{`{podSelector: {}, policyTypes: [Ingress]}`, `{podSelector: {matchLabels: {pod: a}}, ingress: [{}]}`},
			[][]any{{"y/b", "x/a", "TCP", 81}, {outside, "x/a", "SCTP", 7}},
			[][]any{{"x/a", "x/b", "TCP", 80}},
		},
		"should enforce policy to allow traffic only from a different namespace, based on NamespaceSelector": {
			[]string{`{podSelector: {matchLabels: {pod: a}}, ingress: [{from: [{namespaceSelector: {matchLabels: {ns: "y"}}}]}]}`},
			[][]any{{"y/a", "x/a", "TCP", 80}, {"y/c", "x/a", "TCP", 80}},
			[][]any{{"x/b", "x/a", "TCP", 80}, {"z/a", "x/a", "TCP", 80}},
		},
		"should enforce policy based on PodSelector with MatchExpressions": {
			[]string{`{podSelector: {matchLabels: {pod: a}}, ingress: [{from: [{podSelector: {matchExpressions: [{key: pod, operator: In, values: [b]}]}}]}]}`},
			[][]any{{"x/b", "x/a", "TCP", 80}},
			[][]any{{"x/c", "x/a", "TCP", 80}, {"y/b", "x/a", "TCP", 80}},
		},
		"should enforce policy based on NamespaceSelector with MatchExpressions": {
			[]string{`{podSelector: {matchLabels: {pod: a}}, ingress: [{from: [{namespaceSelector: {matchExpressions: [{key: ns, operator: In, values: ["y"]}]}}]}]}`},
			[][]any{{"y/b", "x/a", "TCP", 80}},
			[][]any{{"z/b", "x/a", "TCP", 80}},
		},
		"should enforce policy based on PodSelector or NamespaceSelector": {
			[]string{`{podSelector: {matchLabels: {pod: a}}, ingress: [{from: [{namespaceSelector: {matchExpressions: [{key: ns, operator: NotIn, values: [x]}]}}, {podSelector: {matchLabels: {pod: b}}}]}]}`},
			[][]any{{"y/a", "x/a", "TCP", 80}, {"z/c", "x/a", "TCP", 80}, {"x/b", "x/a", "TCP", 80}},
			[][]any{{"x/c", "x/a", "TCP", 80}},
		},
		"should enforce policy based on PodSelector and NamespaceSelector": {
			[]string{`{podSelector: {matchLabels: {pod: a}}, ingress: [{from: [{namespaceSelector: {matchExpressions: [{key: ns, operator: NotIn, values: [x]}]}, podSelector: {matchLabels: {pod: b}}}]}]}`},
			[][]any{{"y/b", "x/a", "TCP", 80}, {"z/b", "x/a", "TCP", 80}},
			[][]any{{"x/b", "x/a", "TCP", 80}, {"y/a", "x/a", "TCP", 80}},
		},
		"should enforce policy based on Multiple PodSelectors and NamespaceSelectors": {
			[]string{`{podSelector: {matchLabels: {pod: a}}, ingress: [{from: [{namespaceSelector: {matchExpressions: [{key: ns, operator: NotIn, values: [x]}]}, podSelector: {matchExpressions: [{key: pod, operator: In, values: [b, c]}]}}]}]}`},
			[][]any{{"y/b", "x/a", "TCP", 80}, {"z/c", "x/a", "TCP", 80}},
			[][]any{{"y/a", "x/a", "TCP", 80}, {"x/b", "x/a", "TCP", 80}},
		},
		"should enforce policy based on any PodSelectors": {
			[]string{`{podSelector: {matchLabels: {pod: a}}, ingress: [{from: [{podSelector: {matchLabels: {pod: b}}, namespaceSelector: {}}, {podSelector: {matchLabels: {pod: c}}, namespaceSelector: {}}]}]}`},
			[][]any{{"x/b", "x/a", "TCP", 80}, {"y/c", "x/a", "TCP", 80}},
			[][]any{{"y/a", "x/a", "TCP", 80}},
		},
		"should enforce policy to allow traffic only from a pod in a different namespace based on PodSelector and NamespaceSelector": {
			[]string{`{podSelector: {matchLabels: {pod: a}}, ingress: [{from: [{namespaceSelector: {matchLabels: {ns: "y"}}, podSelector: {matchLabels: {pod: a}}}]}]}`},
			[][]any{{"y/a", "x/a", "TCP", 80}},
			[][]any{{"y/b", "x/a", "TCP", 80}, {"z/a", "x/a", "TCP", 80}, {"x/b", "x/a", "TCP", 80}},
		},
		"should enforce policy based on Ports": {
			[]string{`{podSelector: {matchLabels: {pod: a}}, ingress: [{ports: [{port: 81}], from: [{namespaceSelector: {matchLabels: {ns: "y"}}}]}]}`},
			[][]any{{"y/a", "x/a", "TCP", 81}},
			[][]any{{"y/a", "x/a", "TCP", 80}, {"y/a", "x/a", "UDP", 81}, {"x/b", "x/a", "TCP", 81}},
		},
		"should enforce multiple, stacked policies with overlapping podSelectors": {
			[]string{`{podSelector: {matchLabels: {pod: a}}, ingress: [{ports: [{port: 81}]}]}`, `{podSelector: {}, ingress: [{ports: [{port: 80}]}]}`},
			[][]any{{"y/a", "x/a", "TCP", 81}, {"y/a", "x/a", "TCP", 80}, {"y/a", "x/b", "TCP", 80}},
			[][]any{{"y/a", "x/b", "TCP", 81}},
		},
		"should support allow-all policy": {
			[]string{`{podSelector: {}, policyTypes: [Ingress], ingress: [{}]}`},
			[][]any{{"y/a", "x/a", "TCP", 81}, {outside, "x/b", "UDP", 80}},
			nil,
		},
		"should allow ingress access on one named port": {
			[]string{`{podSelector: {}, ingress: [{ports: [{port: serve-81-tcp}]}]}`},
			[][]any{{"y/a", "x/a", "TCP", 81}},
			[][]any{{"y/a", "x/a", "TCP", 80}},
		},
		"should not allow access by TCP when a policy specifies only UDP": {
			[]string{`{podSelector: {matchLabels: {pod: a}}, ingress: [{ports: [{port: 80, protocol: UDP}]}]}`},
			[][]any{{"y/a", "x/a", "UDP", 80}},
			[][]any{{"y/a", "x/a", "TCP", 80}},
		},
		"should allow egress access on one named port": {
			[]string{`{podSelector: {matchLabels: {pod: a}}, policyTypes: [Egress], egress: [{ports: [{port: serve-80-tcp}]}]}`},
			[][]any{{"x/a", "y/a", "TCP", 80}},
			[][]any{{"x/a", "y/a", "TCP", 81}, {"x/a", "y/a", "UDP", 80}, {"x/a", outside, "TCP", 80}},
		},
		"should enforce egress policy allowing traffic to a server in a different namespace based on PodSelector and NamespaceSelector": {
			[]string{`{podSelector: {matchLabels: {pod: a}}, policyTypes: [Egress], egress: [{to: [{namespaceSelector: {matchLabels: {ns: "y"}}, podSelector: {matchLabels: {pod: a}}}]}]}`},
			[][]any{{"x/a", "y/a", "TCP", 80}, {"x/b", "y/b", "TCP", 80}},
			[][]any{{"x/a", "y/b", "TCP", 80}, {"x/a", "z/a", "TCP", 80}},
		},
		"should enforce multiple ingress policies with ingress allow-all policy taking precedence": {
			[]string{`{podSelector: {}, ingress: [{ports: [{port: 81}]}]}`, `{podSelector: {}, ingress: [{}]}`},
			[][]any{{"y/a", "x/a", "TCP", 80}}, nil,
		},
		"should enforce multiple egress policies with egress allow-all policy taking precedence": {
			[]string{`{podSelector: {}, policyTypes: [Egress], egress: [{ports: [{port: 81}]}]}`, `{podSelector: {}, policyTypes: [Egress], egress: [{}]}`},
			[][]any{{"x/a", "y/a", "TCP", 80}}, nil,
		},
		"should work with Ingress, Egress specified together": {
			[]string{`{podSelector: {matchLabels: {pod: a}}, policyTypes: [Ingress, Egress], ingress: [{from: [{podSelector: {matchLabels: {pod: b}}}]}], egress: [{ports: [{port: 80}]}]}`},
			[][]any{{"x/b", "x/a", "TCP", 81}, {"x/a", "y/a", "TCP", 80}},
			[][]any{{"y/a", "x/a", "TCP", 80}, {"x/a", "y/a", "TCP", 81}},
		},
		"should allow egress access to server in CIDR block": {
			[]string{`{podSelector: {matchLabels: {pod: a}}, policyTypes: [Egress], egress: [{to: [{ipBlock: {cidr: 10.0.1.10/32}}]}]}`},
			[][]any{{"x/a", "y/a", "TCP", 80}},
			[][]any{{"x/a", "y/b", "TCP", 80}},
		},
		"should enforce except clause while egress access to server in CIDR block": {
			[]string{`{podSelector: {matchLabels: {pod: a}}, policyTypes: [Egress], egress: [{to: [{ipBlock: {cidr: 10.0.1.0/24, except: [10.0.1.10/32]}}]}]}`},
			[][]any{{"x/a", "y/b", "TCP", 80}},
			[][]any{{"x/a", "y/a", "TCP", 80}, {"x/a", "z/a", "TCP", 80}},
		},
		"should ensure an IP overlapping both IPBlock.CIDR and IPBlock.Except is allowed": {
			[]string{
				`{podSelector: {matchLabels: {pod: a}}, policyTypes: [Egress], egress: [{to: [{ipBlock: {cidr: 10.0.1.0/24, except: [10.0.1.10/32]}}]}]}`,
				`{podSelector: {matchLabels: {pod: a}}, policyTypes: [Egress], egress: [{to: [{ipBlock: {cidr: 10.0.1.10/32}}]}]}`,
			},
			[][]any{{"x/a", "y/a", "TCP", 80}}, nil,
		},
		"should enforce policies to check ingress and egress policies can be controlled independently based on PodSelector": {
			[]string{
				`{podSelector: {matchLabels: {pod: a}}, policyTypes: [Ingress], ingress: [{from: [{podSelector: {matchLabels: {pod: b}}}]}]}`,
				`{podSelector: {matchLabels: {pod: a}}, policyTypes: [Egress]}`,
			},
			[][]any{{"x/b", "x/a", "TCP", 80}},
			[][]any{{"x/a", "x/b", "TCP", 80}, {"x/c", "x/a", "TCP", 80}},
		},
		"should not mistakenly treat 'protocol: SCTP' as 'protocol: TCP', even if the plugin doesn't support SCTP": {
			[]string{`{podSelector: {matchLabels: {pod: a}}, ingress: [{ports: [{port: 80, protocol: SCTP}]}]}`},
			[][]any{{"y/a", "x/a", "SCTP", 80}},
			[][]any{{"y/a", "x/a", "TCP", 80}},
		},
		"should enforce policy to allow traffic on a range of ports (endPort)": {
			[]string{`{podSelector: {matchLabels: {pod: a}}, policyTypes: [Egress], egress: [{ports: [{port: 32768, endPort: 60999}]}]}`},
			[][]any{{"x/a", "y/a", "TCP", 32768}, {"x/a", "y/a", "TCP", 60999}},
			[][]any{{"x/a", "y/a", "TCP", 32767}, {"x/a", "y/a", "TCP", 61000}, {"x/a", "y/a", "UDP", 40000}},
		},
		"a peer or a name of a port that stands for none allows none": {
			[]string{`{podSelector: {matchLabels: {pod: a}}, ingress: [{from: [{podSelector: {matchLabels: {pod: none}}}]}, {ports: [{port: none}]}]}`},
			nil,
			[][]any{{"x/b", "x/a", "TCP", 80}, {"y/b", "x/a", "TCP", 81}},
		},
	} {
		w := model().with(t, c.policies...)
		for want, connections := range map[bool][][]any{true: c.allowed, false: c.denied} {
			for _, d := range connections {
				if got := w.permits(d[0].(string), d[1].(string), d[2].(string), int32(d[3].(int))); got != want {
					t.Errorf("%s: expected a connection %v to be allowed: %t", name, d, want)
				}
			}
		}
	}
}

func TestPodsWithoutAnAddressOfTheirOwnAreNotPeersAndNotGuarded(t *testing.T) {
	for name, change := range map[string]func(*corev1.Pod){
		"before it has an address":       func(p *corev1.Pod) { p.Status.PodIP = "" },
		"in the network of its node":     func(p *corev1.Pod) { p.Spec.HostNetwork = true },
		"that has ended, as a Job's":     func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded },
		"that has failed":                func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed },
		"of another family of addresses": func(p *corev1.Pod) { p.Status.PodIP = "2001:db8::1" },
	} {
		w := model().with(t, `{podSelector: {}, ingress: [{from: [{podSelector: {matchLabels: {pod: b}}}]}]}`)
		change(w.pods[1])
		guards := compile(w, "node1")
		if len(guards) != 2 {
			t.Errorf("a pod %s: expected only the two others of its namespace to be guarded, got %d", name, len(guards))
		}
		if w.permits("10.0.0.20", "x/a", "TCP", 80) {
			t.Errorf("a pod %s: expected its address, which may by now belong to another pod, not to be a peer", name)
		}
	}
}

func TestANodeGuardsItsOwnPodsOnly(t *testing.T) {
	w := model().with(t, `{podSelector: {}}`)
	w.pods[0].Spec.NodeName = "node2"
	if here, there := compile(w, "node1"), compile(w, "node2"); len(here) != 2 || len(there) != 1 {
		t.Errorf("expected two pods here and one on the other node, got %d and %d", len(here), len(there))
	}
}
