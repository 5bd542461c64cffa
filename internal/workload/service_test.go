// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opcrew/opcrew/api/common"
)

var web = Identity{
	Namespace: "shop", Name: "web",
	Selector: map[string]string{"instance": "web"},
	Labels:   map[string]string{"instance": "web", "component": "application"},
}

// same fails the test if want and got differ. what describes the compared values in the error message.
func same(t testing.TB, what string, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: not as expected (-expected +found):\n%s", what, diff)
	}
}

// declared returns an apply configuration as JSON, in the form that an API server receives.
func declared(t *testing.T, ac any) string {
	t.Helper()
	raw, err := json.Marshal(ac)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// ports parses the ports of a spec, written as YAML.
func ports(t *testing.T, text string) []common.Port {
	t.Helper()
	var out []common.Port
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestAServicesTypeFollowsItsPorts(t *testing.T) {
	for text, want := range map[string]string{
		`[{"port":80}]`:                                   "ClusterIP",
		`[{"port":80,"nodePort":30002}]`:                  "NodePort",
		`[{"port":80,"nodePort":0}]`:                      "NodePort",
		`[{"port":80},{"port":81,"nodePort":30002}]`:      "NodePort",
		`[{"port":80,"nodePort":30002},{"port":81}]`:      "NodePort",
		`[{"port":53,"protocol":"UDP"},{"port":53}]`:      "ClusterIP",
		`[{"port":53,"protocol":"UDP","nodePort":30053}]`: "NodePort",
	} {
		if got := string(*web.Service(ports(t, text)).Spec.Type); got != want {
			t.Errorf("ports %s: expected a Service of type %s, got %s", text, want, got)
		}
	}
}

func TestPortsOfTheServiceAndOfTheContainer(t *testing.T) {
	for name, test := range map[string]struct{ ports, service, container string }{
		"a number alone": {
			`[{"port":80}]`,
			`[{"name":"tcp-80","protocol":"TCP","port":80,"targetPort":80}]`,
			`[{"containerPort":80,"protocol":"TCP"}]`,
		},
		"the article's": {
			`[{"port":80,"targetPort":80,"nodePort":30002}]`,
			`[{"name":"tcp-80","protocol":"TCP","port":80,"targetPort":80,"nodePort":30002}]`,
			`[{"containerPort":80,"protocol":"TCP"}]`,
		},
		"any nodePort is left to the server": {
			`[{"port":80,"nodePort":0}]`,
			`[{"name":"tcp-80","protocol":"TCP","port":80,"targetPort":80}]`,
			`[{"containerPort":80,"protocol":"TCP"}]`,
		},
		"another number in the container": {
			`[{"port":80,"targetPort":8080}]`,
			`[{"name":"tcp-80","protocol":"TCP","port":80,"targetPort":8080}]`,
			`[{"containerPort":8080,"protocol":"TCP"}]`,
		},
		// Regression: the operator in the tutorial article that AppService comes from turned a named target port into
		// container port 0.
		"a name stands for the port's own number": {
			`[{"port":80,"targetPort":"http"}]`,
			`[{"name":"tcp-80","protocol":"TCP","port":80,"targetPort":"http"}]`,
			`[{"name":"http","containerPort":80,"protocol":"TCP"}]`,
		},
		"two ports that lead to one": {
			`[{"port":80,"targetPort":8080},{"port":81,"targetPort":8080}]`,
			`[{"name":"tcp-80","protocol":"TCP","port":80,"targetPort":8080},{"name":"tcp-81","protocol":"TCP","port":81,"targetPort":8080}]`,
			`[{"containerPort":8080,"protocol":"TCP"}]`,
		},
		"two ports that lead to one, which has a name": {
			`[{"port":81,"targetPort":80},{"port":80,"targetPort":"http"}]`,
			`[{"name":"tcp-81","protocol":"TCP","port":81,"targetPort":80},{"name":"tcp-80","protocol":"TCP","port":80,"targetPort":"http"}]`,
			`[{"name":"http","containerPort":80,"protocol":"TCP"}]`,
		},
		"one number of two protocols": {
			`[{"port":53,"protocol":"UDP"},{"port":53}]`,
			`[{"name":"udp-53","protocol":"UDP","port":53,"targetPort":53},{"name":"tcp-53","protocol":"TCP","port":53,"targetPort":53}]`,
			`[{"containerPort":53,"protocol":"UDP"},{"containerPort":53,"protocol":"TCP"}]`,
		},
		"settings of proxies": {
			`[{"name":"web","port":80,"appProtocol":"kubernetes.io/h2c"}]`,
			`[{"name":"web","protocol":"TCP","appProtocol":"kubernetes.io/h2c","port":80,"targetPort":80}]`,
			`[{"containerPort":80,"protocol":"TCP"}]`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			given := ports(t, test.ports)
			same(t, "the Service's ports", test.service, declared(t, web.Service(given).Spec.Ports))
			same(t, "the container's ports", test.container, declared(t, Container("web", "web:1", given).Ports))
		})
	}
}

func TestReadinessAsksTheFirstPortThatCanBeConnectedTo(t *testing.T) {
	for text, want := range map[string]int32{
		`[{"port":80,"targetPort":8080},{"port":81}]`: 8080,
		`[{"port":53,"protocol":"UDP"},{"port":54}]`:  54,
		`[{"port":80,"targetPort":"http"}]`:           80,
	} {
		probe := Container("web", "web:1", ports(t, text)).ReadinessProbe
		if probe == nil || probe.TCPSocket.Port.IntVal != want {
			t.Errorf("ports %s: expected container port %d to be asked, got %s", text, want, declared(t, probe))
		}
	}
	for _, text := range []string{`[]`, `[{"port":53,"protocol":"UDP"}]`} {
		if probe := Container("web", "web:1", ports(t, text)).ReadinessProbe; probe != nil {
			t.Errorf("ports %s: expected no probe where nothing can be connected to, got %s", text, declared(t, probe))
		}
	}
}
