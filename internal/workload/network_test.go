// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/opcrew/opcrew/api/common"
	"github.com/opcrew/opcrew/internal/podtemplate"
)

// policyOf returns the spec of a NetworkPolicy as the API server would decode it.
func policyOf(n Network) networkingv1.NetworkPolicySpec {
	id := Identity{Namespace: "shop", Name: "db", Labels: map[string]string{"app": "db", "team": "a"}, Selector: map[string]string{"app": "db"}}
	return podtemplate.Convert[networkingv1.NetworkPolicy](*id.NetworkPolicy(n)).Spec
}

// described returns the ports and the peers of a rule as text.
func described(rule networkingv1.NetworkPolicyIngressRule) (ports []string, peers []string) {
	for _, p := range rule.Ports {
		ports = append(ports, string(*p.Protocol)+" "+p.Port.String())
	}
	for _, peer := range rule.From {
		text := ""
		if peer.NamespaceSelector != nil {
			text = metav1.FormatLabelSelector(peer.NamespaceSelector) + ": "
		}
		peers = append(peers, text+metav1.FormatLabelSelector(peer.PodSelector))
	}
	return ports, peers
}

func TestWithoutAccessClientsAreFreeAndInnerPortsAreNot(t *testing.T) {
	spec := policyOf(Network{Clients: TCP(1), Inner: TCP(2, 3), Open: TCP(4), Operator: "opcrew-system"})
	if len(spec.PolicyTypes) != 1 || spec.PolicyTypes[0] != networkingv1.PolicyTypeIngress || len(spec.Egress) > 0 {
		t.Errorf("expected connections from the pods to be left alone, got %v", spec.PolicyTypes)
	}
	if got := metav1.FormatLabelSelector(&spec.PodSelector); got != "app=db" {
		t.Errorf("expected the pods to be selected by labels that never change, got %s", got)
	}
	for i, want := range []struct{ ports, peers []string }{
		{[]string{"TCP 1"}, nil}, {[]string{"TCP 2", "TCP 3"}, []string{"app=db"}}, {[]string{"TCP 4"}, nil},
	} {
		ports, peers := described(spec.Ingress[i])
		if diff := cmp.Diff(want.ports, ports) + cmp.Diff(want.peers, peers); diff != "" {
			t.Errorf("rule %d (-expected +found):\n%s", i, diff)
		}
	}
}

func TestWithAccessOnlyItsClientsAndThePodsOfOpcrewConnect(t *testing.T) {
	access := common.Access{{PodSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}}}
	n := Network{Clients: TCP(1), Inner: TCP(2), Access: access, Helpers: []map[string]string{{"app": "backup"}}, Operator: "opcrew-system"}
	operator := "kubernetes.io/metadata.name=opcrew-system: app.kubernetes.io/name=opcrew,opcrew.io/layer=data"
	for name, c := range map[string]struct {
		change func(*Network)
		want   []string
	}{
		"a store with an operator and helpers": {func(*Network) {}, []string{"app=web", "app=db", "app=backup", operator}},
		"pods that do not know each other":     {func(n *Network) { n.Inner = nil }, []string{"app=web", "app=backup", operator}},
		"an operator that does not connect":    {func(n *Network) { n.Operator = "" }, []string{"app=web", "app=db", "app=backup"}},
	} {
		changed := n
		c.change(&changed)
		_, peers := described(policyOf(changed).Ingress[0])
		if diff := cmp.Diff(c.want, peers); diff != "" {
			t.Errorf("%s (-expected +found):\n%s", name, diff)
		}
	}
}

func TestPortsThatAUsersContainersDeclareAreOpened(t *testing.T) {
	ports := PortsOf([]corev1.Container{{Ports: []corev1.ContainerPort{{ContainerPort: 9121}, {ContainerPort: 53, Protocol: corev1.ProtocolUDP}}}, {}})
	got, _ := described(policyOf(Network{Clients: TCP(1), Open: ports}).Ingress[1])
	if diff := cmp.Diff([]string{"TCP 9121", "UDP 53"}, got); diff != "" {
		t.Errorf("not as declared (-expected +found):\n%s", diff)
	}
}
