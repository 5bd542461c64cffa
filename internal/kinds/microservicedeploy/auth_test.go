// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package microservicedeploy

import (
	"fmt"
	"io"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/opcrew/opcrew/api/common"
	customv1 "github.com/opcrew/opcrew/api/custom/v1"
	"github.com/opcrew/opcrew/internal/agents/authproxy"
	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy/auth"
	"github.com/opcrew/opcrew/internal/workload"
	"github.com/opcrew/opcrew/test/testenv/golden"
)

func TestTheProxysPortsPassOverThoseOfTheApplication(t *testing.T) {
	udp := common.Port{Port: 53, Protocol: corev1.ProtocolUDP}
	for name, test := range map[string]struct {
		ports []common.Port
		want  string
	}{
		"the default":   {nil, "health 16000, 16001->http 8080"},
		"UDP between":   {[]common.Port{{Port: 1}, udp, {Port: 2}}, "health 16000, 16001->port-1 1, 16002->port-3 2"},
		"its own ports": {[]common.Port{{Port: 16001}, {Port: 16003}}, "health 16000, 16002->port-1 16001, 16004->port-2 16003"},
		// Regression: the proxy always used port 16000, so an application that used this port could not start next to
		// it.
		"its health":                      {[]common.Port{{Port: 80, TargetPort: "16000"}}, "health 16001, 16002->port-1 16000"},
		"its health, of another protocol": {[]common.Port{{Port: 16000, Protocol: corev1.ProtocolUDP}, {Port: 80}}, "health 16001, 16002->port-2 80"},
	} {
		all, health := auth.Routes(newInstance(withPorts(test.ports...)))
		got := fmt.Sprint("health ", health)
		for _, r := range all {
			got += fmt.Sprintf(", %d->%s %d", r.From, r.Name, r.Number)
		}
		same(t, name, test.want, got)
	}
}

func TestTheProxyStandsBeforeTheApplicationAndTheWallLetsPassOnlyIt(t *testing.T) {
	ports := withPorts(common.Port{Name: "web", Port: 80, TargetPort: "8080"}, common.Port{Name: "admin", Port: 81}, common.Port{Name: "dns", Port: 53, Protocol: corev1.ProtocolUDP})
	for name, m := range map[string]*customv1.MicroServiceDeploy{"tenant": newInstance(ports, needsAuth), "own": newInstance(ports, ownAuth)} {
		golden.Check(t, "proxy-"+name+".yaml", auth.Container(m, agentImage))
		golden.Check(t, "proxy-"+name+"-volumes.yaml", templateOf(m, facts{agentImage: agentImage}, customv1.Revision{}).Spec.Volumes)
	}
	golden.Check(t, "wall.yaml", auth.Policy(newInstance(ports, needsAuth), workload.Rollout{}))
}

// The proxy (opcrew-agent auth-proxy) must accept the arguments with which opcrew starts it.
func TestTheAgentTakesTheProxysArguments(t *testing.T) {
	for name, m := range map[string]*customv1.MicroServiceDeploy{
		"the default": newInstance(needsAuth),
		"two ports":   newInstance(ownAuth, withPorts(http[0], common.Port{Port: 81})),
		"UDP beside":  newInstance(needsAuth, withPorts(common.Port{Port: 53, Protocol: corev1.ProtocolUDP}, common.Port{Port: 53})),
	} {
		args := auth.Container(m, agentImage).Args
		if args[0] != "auth-proxy" {
			t.Errorf("%s: expected the agent's subcommand first, got %q", name, args)
		}
		if _, err := authproxy.ParseFlags(args[1:], io.Discard); err != nil {
			t.Errorf("%s: expected the agent to take %q, got %v", name, args, err)
		}
	}
}

// Regression: when authentication was switched on, the NetworkPolicy closed the ports of old pods without a proxy
// before the new pods with a proxy were ready.
func TestTheWallStandsOnlyAroundPodsWithAProxy(t *testing.T) {
	selected := func(m *customv1.MicroServiceDeploy) bool {
		labels := templateOf(m, facts{}, customv1.Revision{}).Labels
		for key, value := range auth.Policy(m, workload.Rollout{}).Spec.PodSelector.MatchLabels {
			if labels[key] != value {
				return false
			}
		}
		return true
	}
	if open, behind := selected(newInstance()), selected(newInstance(needsAuth)); open || !behind {
		t.Errorf("expected the wall around pods with a proxy and no others, got %v with and %v without", behind, open)
	}
	m := newInstance(needsAuth)
	m.Spec.Pod = &common.PodOverride{Labels: map[string]string{auth.AuthLabel: "false"}}
	if !selected(m) {
		t.Error("expected no override to take pods out of the wall")
	}
}

func TestOnlyHashesComeIntoThePod(t *testing.T) {
	for _, s := range append(auth.Sources(newInstance(needsAuth)), auth.Sources(newInstance(ownAuth))...) {
		for _, item := range s.Mount().Secret.Items {
			if key := *item.Key; !strings.Contains(key, "htpasswd") && key != "auth" {
				t.Errorf("expected only lines of htpasswd from Secret %s, got key %s", s.Secret, key)
			}
		}
	}
}
