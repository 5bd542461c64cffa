// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package microservicedeploy

import (
	"slices"
	"strings"
	"testing"

	customv1 "github.com/opcrew/opcrew/api/custom/v1"
	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy/hosts"
	"github.com/opcrew/opcrew/test/testenv/golden"
)

func TestTheHostNamesThatAnInstanceClaims(t *testing.T) {
	for name, test := range map[string]struct {
		m    *customv1.MicroServiceDeploy
		want string
	}{
		"none without a domain":    {newInstance(), ""},
		"a major version":          {newInstance(hosted("v1")), "v1-web.example.com web.example.com"},
		"without a major version":  {newInstance(hosted("")), "web.example.com"},
		"the current one":          {newInstance(hosted("v1"), isCurrent), "v1-web.example.com web.example.com"},
		"one that is not":          {newInstance(hosted("v1"), isNotCurrent), "v1-web.example.com"},
		"the only one that is not": {newInstance(hosted(""), isNotCurrent), "web.example.com"},
	} {
		same(t, name, test.want, strings.Join(hosts.Claimed(test.m), " "))
	}
	long := newInstance(hosted(strings.Repeat("p", 20)), ofService(strings.Repeat("s", 40)))
	if label, _, _ := strings.Cut(hosts.Claimed(long)[0], "."); len(label) > 63 {
		t.Errorf("expected a label of DNS, at most 63 characters, got %d", len(label))
	}
}

// The winner must not depend on the order in which the claimants are listed.
func TestWhoGetsAHostNameThatSeveralClaim(t *testing.T) {
	v1, v2 := newInstance(of("a"), hosted("v1")), newInstance(of("b"), hosted("v2"), aged(1))
	for name, test := range map[string]struct {
		all  []*customv1.MicroServiceDeploy
		want []string // for each MicroServiceDeploy: the host names it gets, then ! and the host names it loses
	}{
		"one": {[]*customv1.MicroServiceDeploy{v1}, []string{"v1-web web"}},
		"two major versions side by side: the older is current": {
			[]*customv1.MicroServiceDeploy{v1, v2}, []string{"v1-web web", "v2-web"},
		},
		"the younger insists": {
			[]*customv1.MicroServiceDeploy{v1, newInstance(of("b"), hosted("v2"), aged(1), isCurrent)}, []string{"v1-web", "v2-web web"},
		},
		"the older does not want it": {
			[]*customv1.MicroServiceDeploy{newInstance(of("a"), hosted("v1"), isNotCurrent), v2}, []string{"v1-web", "v2-web web"},
		},
		"both insist: a conflict of the younger": {
			[]*customv1.MicroServiceDeploy{newInstance(of("a"), hosted("v1"), isCurrent), newInstance(of("b"), hosted("v2"), aged(1), isCurrent)},
			[]string{"v1-web web", "v2-web !web of shop/a"},
		},
		"of one age: by name": {
			[]*customv1.MicroServiceDeploy{newInstance(of("b"), hosted("v2")), v1}, []string{"v2-web", "v1-web web"},
		},
		// Regression: the younger MicroServiceDeploy reported a URL although it had no host name.
		"two of one major version": {
			[]*customv1.MicroServiceDeploy{v1, newInstance(of("b"), hosted("v1"), aged(1))}, []string{"v1-web web", "!v1-web of shop/a"},
		},
		"to insist on the current one takes no major version": {
			[]*customv1.MicroServiceDeploy{v1, newInstance(of("b"), hosted("v1"), aged(1), isCurrent)}, []string{"v1-web", "web !v1-web of shop/a"},
		},
		"without a major version there is no other name": {
			[]*customv1.MicroServiceDeploy{v1, newInstance(of("b"), hosted(""), aged(1))}, []string{"v1-web web", "!web of shop/a"},
		},
		"a rival in another namespace": {
			[]*customv1.MicroServiceDeploy{v1, newInstance(of("b"), in("elsewhere"), hosted("v2"), aged(1))}, []string{"v1-web web", "v2-web !web elsewhere"},
		},
		"a rival elsewhere cannot insist": {
			[]*customv1.MicroServiceDeploy{v1, newInstance(of("b"), in("elsewhere"), hosted("v1"), aged(1), isCurrent)}, []string{"v1-web web", "!v1-web elsewhere !web elsewhere"},
		},
		"another microservice of such a name": {
			[]*customv1.MicroServiceDeploy{v1, newInstance(of("b"), ofService("v1-web"), hosted(""), aged(1))}, []string{"v1-web web", "!v1-web of shop/a"},
		},
		// Regression: a MicroServiceDeploy that was created in the same second took the host names of a running
		// MicroServiceDeploy.
		"two of one second: who runs stays": {
			[]*customv1.MicroServiceDeploy{newInstance(of("b"), hosted("v1"), reached("v1-web", "web")), v1},
			[]string{"v1-web web", "!v1-web of shop/b"},
		},
		"who runs keeps its name from an older one of its major version": {
			[]*customv1.MicroServiceDeploy{v1, newInstance(of("b"), hosted("v1"), aged(1), reached("v1-web", "web"))},
			[]string{"web !v1-web of shop/b", "v1-web"},
		},
		"other names": {
			[]*customv1.MicroServiceDeploy{v1, newInstance(of("b"), ofService("api"), hosted("v1"), aged(1))}, []string{"v1-web web", "v1-api api"},
		},
		// Regression: the precedence of the claimants formed a circle, so each lost to another, and none got the host
		// name.
		"a circle: oldest, another owner, a sibling that insists": {
			[]*customv1.MicroServiceDeploy{
				v1, newInstance(of("c"), in("elsewhere"), hosted("v3"), aged(1)), newInstance(of("b"), hosted("v2"), aged(2), isCurrent),
			},
			[]string{"v1-web", "v3-web !web elsewhere", "v2-web web"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			for i, m := range test.all {
				var rivals []customv1.MicroServiceDeploy
				for j, rival := range test.all {
					if j != i {
						rivals = append(rivals, *rival, *rival) // Observe also lists a rival once for each host name
					}
				}
				same(t, m.Name, test.want[i], hadBy(m, rivals))
				slices.Reverse(rivals)
				same(t, m.Name+", seen the other way round", test.want[i], hadBy(m, rivals))
			}
		})
	}
}

func hadBy(m *customv1.MicroServiceDeploy, rivals []customv1.MicroServiceDeploy) string {
	has, lost := hosts.Assign(m, rivals)
	out := slices.Clone(has)
	for _, text := range lost {
		text = strings.Replace(text, " belongs to MicroServiceDeploy ", " of ", 1)
		out = append(out, "!"+strings.Replace(text, " is in use in another namespace", " elsewhere", 1))
	}
	return strings.ReplaceAll(strings.Join(out, " "), ".example.com", "")
}

func TestTheUsersAddressIsTheShortestName(t *testing.T) {
	for _, test := range []struct {
		hosts []string
		want  string
	}{
		{nil, ""},
		{[]string{"v1-web.example.com", "web.example.com"}, "http://web.example.com"},
		{[]string{"b.example.com", "a.example.com"}, "http://a.example.com"},
	} {
		same(t, "url", test.want, hosts.URL(test.hosts))
	}
}

func TestHostNamesGoThroughAnIngressOrAGateway(t *testing.T) {
	m := newInstance(hosted("v1"))
	golden.Check(t, "ingress.yaml", hosts.Ingress(m, hosts.Claimed(m)))
	m.Spec.IngressClassName, m.Spec.Ports = "traefik", manifest(t, "all-fields.yaml").Spec.Ports
	golden.Check(t, "ingress-class.yaml", hosts.Ingress(m, hosts.Claimed(m)[:1]))
	m.Spec.Gateway = &customv1.Gateway{Name: "front"}
	golden.Check(t, "httproute.yaml", hosts.Route(m, hosts.Claimed(m)))
	m.Spec.Gateway = &customv1.Gateway{Name: "front", Namespace: "gateways", Listener: "web"}
	golden.Check(t, "httproute-listener.yaml", hosts.Route(m, hosts.Claimed(m)))
}
