// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/kit/condition"
)

func serviceAt(namespace, name string, ports ...corev1.ServicePort) *corev1.Service {
	s := &corev1.Service{Spec: corev1.ServiceSpec{Ports: ports}}
	s.Namespace, s.Name = namespace, name
	return s
}

func TestTheHoldersOfWantedNodePortsAreNamedInTheirOwnNamespaceOnly(t *testing.T) {
	tcp := corev1.ServicePort{Protocol: corev1.ProtocolTCP, NodePort: 30002}
	udp := corev1.ServicePort{Protocol: corev1.ProtocolUDP, NodePort: 30002}
	health := serviceAt("other", "balanced")
	health.Spec.HealthCheckNodePort = 30002
	for name, test := range map[string]struct {
		ports    string
		services []client.Object
		want     string
	}{
		"no Service":                     {`[{"port":80,"nodePort":30002}]`, nil, ""},
		"another's":                      {`[{"port":80,"nodePort":30002}]`, []client.Object{serviceAt("other", "a", tcp)}, "nodePort 30002 is in use in another namespace"},
		"another's of our name":          {`[{"port":80,"nodePort":30002}]`, []client.Object{serviceAt("other", "web", tcp)}, "nodePort 30002 is in use in another namespace"},
		"another one of the namespace":   {`[{"port":80,"nodePort":30002}]`, []client.Object{serviceAt("shop", "b", tcp)}, "nodePort 30002 belongs to Service shop/b"},
		"our own":                        {`[{"port":80,"nodePort":30002}]`, []client.Object{serviceAt("shop", "web", tcp)}, ""},
		"another protocol's":             {`[{"port":80,"nodePort":30002}]`, []client.Object{serviceAt("other", "a", udp)}, ""},
		"the same protocol's":            {`[{"port":80,"nodePort":30002,"protocol":"UDP"}]`, []client.Object{serviceAt("other", "a", udp)}, "nodePort 30002 is in use in another namespace"},
		"a load balancer's health check": {`[{"port":80,"nodePort":30002}]`, []client.Object{health}, "nodePort 30002 is in use in another namespace"},
		"none is wanted":                 {`[{"port":80}]`, []client.Object{serviceAt("other", "a", tcp)}, ""},
		"any is wanted":                  {`[{"port":80,"nodePort":0}]`, []client.Object{serviceAt("other", "a", corev1.ServicePort{Protocol: corev1.ProtocolTCP})}, ""},
		"two of them": {
			`[{"port":80,"nodePort":30002},{"port":81,"nodePort":30003}]`,
			[]client.Object{serviceAt("other", "a", tcp), serviceAt("other", "b", corev1.ServicePort{Protocol: corev1.ProtocolTCP, NodePort: 30003})},
			"nodePort 30002 is in use in another namespace, nodePort 30003 is in use in another namespace",
		},
	} {
		t.Run(name, func(t *testing.T) {
			live := fake.NewClientBuilder().WithObjects(test.services...).Build()
			got, err := ObserveNodePorts(t.Context(), live, web, ports(t, test.ports))
			if err != nil {
				t.Fatal(err)
			}
			same(t, "the holders", test.want, got.Holders)
		})
	}
}

func TestHoldersThatCannotBeReadAreAnError(t *testing.T) {
	live := fake.NewClientBuilder().WithInterceptorFuncs(interceptor.Funcs{
		List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error {
			return errors.New("timeout")
		},
	}).Build()
	if _, err := ObserveNodePorts(t.Context(), live, web, ports(t, `[{"port":80,"nodePort":30002}]`)); err == nil {
		t.Error("expected an error")
	}
}

func TestARefusedNodePortNamesItsHolderOrQuotesTheServer(t *testing.T) {
	const server = `apply Service shop/web: Service "web" is invalid: spec.ports[0].nodePort: Invalid value: 30002: provided port is already allocated`
	for name, test := range map[string]struct {
		holders string
		err     error
		want    string
	}{
		"no failure":               {"", nil, "none"},
		"another failure":          {"nodePort 30002 belongs to Service other/a", errors.New("timeout"), "none"},
		"the holder is not known":  {"", errors.New(server), "False NodePortTaken: " + server},
		"the holder has been read": {"nodePort 30002 belongs to Service other/a", errors.New(server), "False NodePortTaken: nodePort 30002 belongs to Service other/a; choose another port, or 0 for any free port"},
	} {
		t.Run(name, func(t *testing.T) {
			var list []metav1.Condition
			NodePorts{test.holders}.Report(condition.Set{Conditions: &list, Now: time.Unix(1, 0)}, "ChildrenReady", kit.Outcome{Err: test.err})
			got := "none"
			if c := meta.FindStatusCondition(list, "ChildrenReady"); c != nil {
				got = fmt.Sprintf("%s %s: %s", c.Status, c.Reason, c.Message)
			}
			same(t, "ChildrenReady", test.want, got)
		})
	}
}
