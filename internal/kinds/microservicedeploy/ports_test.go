// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package microservicedeploy

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/opcrew/opcrew/api/common"
	customv1 "github.com/opcrew/opcrew/api/custom/v1"
	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy/ports"
)

var http = []common.Port{{Name: "http", Port: 80, TargetPort: "8080"}}

func TestTheServiceLeadsToTargetsByName(t *testing.T) {
	for name, test := range map[string]struct {
		ports []common.Port
		want  string
	}{
		"the default":            {nil, "http 80->http=8080/TCP"},
		"a number":               {http, "http 80->http=8080/TCP"},
		"none: the port's own":   {[]common.Port{{Port: 80}}, "tcp-80 80->port-1=80/TCP"},
		"a name: the port's own": {[]common.Port{{Port: 80, TargetPort: "web"}}, "tcp-80 80->port-1=80/TCP"},
		"two to one target":      {[]common.Port{{Name: "a", Port: 80, TargetPort: "8080"}, {Name: "b", Port: 81, TargetPort: "8080"}}, "a 80->a=8080/TCP, b 81->a=8080/TCP"},
		"one number, two protocols": {
			[]common.Port{{Port: 53, Protocol: corev1.ProtocolUDP}, {Port: 53}}, "udp-53 53->port-1=53/UDP, tcp-53 53->port-2=53/TCP",
		},
		// Regression: the API server rejected the Service, because the port name is not valid for containers.
		"a name that containers cannot have": {[]common.Port{{Name: "8080", Port: 80}, {Name: "a--b", Port: 81}}, "8080 80->port-1=80/TCP, a--b 81->port-2=81/TCP"},
	} {
		t.Run(name, func(t *testing.T) {
			m := newInstance(withPorts(test.ports...))
			same(t, "ports", test.want, led(m))
			for _, target := range ports.Targets(m) {
				if why := validation.IsValidPortName(target.Name); len(why) > 0 {
					t.Errorf("expected a name that a container can have, got %q: %v", target.Name, why)
				}
			}
			m.Spec.NeedAuth = true
			same(t, "ports with a proxy", test.want, led(m))
		})
	}
}

// led describes to which container ports the Service ports lead.
func led(m *customv1.MicroServiceDeploy) string {
	var out []string
	for _, p := range ports.Service(m).Spec.Ports {
		for _, t := range ports.Targets(m) {
			if t.Name == p.TargetPort.StrVal {
				out = append(out, fmt.Sprintf("%s %d->%s=%d/%s", *p.Name, *p.Port, t.Name, t.Number, *p.Protocol))
			}
		}
	}
	return strings.Join(out, ", ")
}

// The Service must not change when the proxy is switched on or off. Otherwise the rollout would lose requests.
func TestTurningAuthOnOrOffLeavesTheServiceAsItIs(t *testing.T) {
	for _, list := range [][]common.Port{nil, http, {{Port: 16000}, {Port: 53, Protocol: corev1.ProtocolUDP}, {Name: "x", Port: 1, NodePort: new(int32(0))}}} {
		same(t, "Service", ports.Service(newInstance(withPorts(list...))), ports.Service(newInstance(withPorts(list...), needsAuth)))
	}
}

func TestBehindTheProxyThePortsOfTheApplicationHaveNoNames(t *testing.T) {
	two := withPorts(http[0], common.Port{Port: 53, Protocol: corev1.ProtocolUDP})
	for name, test := range map[string]struct {
		m    *customv1.MicroServiceDeploy
		want string
	}{
		"open":   {newInstance(two), "http=8080 port-2=53"},
		"behind": {newInstance(two, needsAuth), "=8080 port-2=53"},
	} {
		c := corev1ac.Container()
		ports.AddPorts(c, test.m)
		var got []string
		for _, p := range c.Ports {
			name := ""
			if p.Name != nil {
				name = *p.Name
			}
			got = append(got, fmt.Sprintf("%s=%d", name, *p.ContainerPort))
		}
		same(t, name, test.want, strings.Join(got, " "))
	}
}

func TestWithoutAProbeOfTheUserTheFirstTCPPortIsConnectedTo(t *testing.T) {
	udp := common.Port{Port: 53, Protocol: corev1.ProtocolUDP}
	if got := ports.Connects(newInstance(withPorts(udp, http[0]))); got.TCPSocket.Port.IntVal != 8080 {
		t.Errorf("expected port 8080 to be connected to, got %v", got.TCPSocket.Port)
	}
	if got := ports.Connects(newInstance(withPorts(udp))); got != nil {
		t.Errorf("expected no probe where there is nothing to connect to, got %+v", got)
	}
}

// Regression: with a proxy, the port names belong to the proxy, and the kubelet did not find the names in the
// application's container.
func TestAProbeByNameFindsTheApplicationWithAndWithoutAProxy(t *testing.T) {
	probed := func(port intstr.IntOrString) *common.Probes {
		return &common.Probes{
			Readiness: &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/ready", Port: port}}},
			Liveness:  &corev1.Probe{ProbeHandler: corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: port}}},
			Startup:   &corev1.Probe{ProbeHandler: corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{"true"}}}},
		}
	}
	for name, test := range map[string]struct{ port, want intstr.IntOrString }{
		"a number":             {intstr.FromInt32(9), intstr.FromInt32(9)},
		"the name of a port":   {intstr.FromString("http"), intstr.FromInt32(8080)},
		"that of a targetPort": {intstr.FromString("web"), intstr.FromInt32(81)},
		"that of none":         {intstr.FromString("other"), intstr.FromString("other")},
	} {
		m := newInstance(withPorts(http[0], common.Port{Port: 81, TargetPort: "web"}), needsAuth)
		m.Spec.Probes = probed(test.port)
		before := m.Spec.Probes.DeepCopy()
		c := corev1ac.Container()
		ports.AddProbes(c, m)
		same(t, name+": readiness", test.want, *c.ReadinessProbe.HTTPGet.Port)
		same(t, name+": liveness", test.want, *c.LivenessProbe.TCPSocket.Port)
		same(t, name+": startup", []string{"true"}, c.StartupProbe.Exec.Command)
		same(t, name+": the user's object in the cache", before, m.Spec.Probes)
	}
}
