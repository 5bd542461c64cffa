// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package nodepool

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
	"github.com/opcrew/opcrew/internal/kinds/nodepool/machines"
	"github.com/opcrew/opcrew/internal/kinds/nodepool/pooltest"
	"github.com/opcrew/opcrew/internal/kit"
)

func TestMachinesAreVerified(t *testing.T) {
	segments := func(cidrs ...nodesv1.CIDR) pooltest.PoolOption {
		return func(p *nodesv1.NodePool) { p.Spec.CIDRs = cidrs }
	}
	types := func(names ...nodesv1.InstanceType) pooltest.PoolOption {
		return func(p *nodesv1.NodePool) { p.Spec.Machine = &nodesv1.Machine{InstanceTypes: names} }
	}
	at := func(addresses ...string) pooltest.NodeOption {
		return func(n *corev1.Node) {
			for _, a := range addresses {
				n.Status.Addresses = append(n.Status.Addresses, corev1.NodeAddress{Type: corev1.NodeInternalIP, Address: a})
			}
			n.Status.Addresses = append(n.Status.Addresses, corev1.NodeAddress{Type: corev1.NodeExternalIP, Address: "203.0.113.9"})
		}
	}
	of := func(name string) pooltest.NodeOption {
		return pooltest.HasLabel("node.kubernetes.io/instance-type", name)
	}
	for name, test := range map[string]struct {
		pool  []pooltest.PoolOption
		node  []pooltest.NodeOption
		want  string
		words []string
	}{
		"nothing is required":                  {want: ""},
		"in the segment":                       {[]pooltest.PoolOption{segments("10.1.0.0/16")}, []pooltest.NodeOption{at("10.1.2.3")}, "True AsWanted", nil},
		"in the second segment":                {[]pooltest.PoolOption{segments("10.1.0.0/16", "10.2.0.0/16")}, []pooltest.NodeOption{at("10.2.2.3")}, "True AsWanted", nil},
		"outside the segment":                  {[]pooltest.PoolOption{segments("10.1.0.0/16")}, []pooltest.NodeOption{at("10.2.2.3")}, "False SegmentMismatch", []string{"n has the address 10.2.2.3", "spec.cidrs"}},
		"with one address outside":             {[]pooltest.PoolOption{segments("10.1.0.0/16", "fd00:1::/64")}, []pooltest.NodeOption{at("10.1.2.3", "fd00:2::1")}, "False SegmentMismatch", []string{"fd00:2::1"}},
		"an IP family without a segment":       {[]pooltest.PoolOption{segments("10.1.0.0/16")}, []pooltest.NodeOption{at("10.1.2.3", "fd00:2::1")}, "True AsWanted", nil},
		"only an IP family without a segment":  {[]pooltest.PoolOption{segments("10.1.0.0/16")}, []pooltest.NodeOption{at("fd00:2::1")}, "Unknown NotReported", []string{"The status of 1 node (n) has no InternalIP of an IP family in spec.cidrs, so opcrew cannot verify the segments"}},
		"without an address":                   {[]pooltest.PoolOption{segments("10.1.0.0/16")}, nil, "Unknown NotReported", []string{"The status of 1 node (n) has no InternalIP of an IP family in spec.cidrs, so opcrew cannot verify the segments"}},
		"of a type":                            {[]pooltest.PoolOption{types("m6i.large", "m5.large")}, []pooltest.NodeOption{of("m5.large")}, "True AsWanted", nil},
		"of another type":                      {[]pooltest.PoolOption{types("m6i.large")}, []pooltest.NodeOption{of("m5.large")}, "False InstanceTypeMismatch", []string{"instance type m5.large", "spec.machine.instanceTypes"}},
		"without a type":                       {[]pooltest.PoolOption{types("m6i.large")}, nil, "Unknown NotReported", []string{"The label node.kubernetes.io/instance-type is missing on 1 node (n), so opcrew cannot verify the instance types"}},
		"outside, and without a type":          {[]pooltest.PoolOption{segments("10.1.0.0/16"), types("a")}, []pooltest.NodeOption{at("10.2.2.3")}, "False SegmentMismatch", nil},
		"in the segment, and of another type":  {[]pooltest.PoolOption{segments("10.1.0.0/16"), types("a")}, []pooltest.NodeOption{at("10.1.2.3"), of("b")}, "False InstanceTypeMismatch", nil},
		"without an address and its type":      {[]pooltest.PoolOption{segments("10.1.0.0/16"), types("a")}, nil, "Unknown NotReported", []string{"The status of 1 node (n) has no InternalIP of an IP family in spec.cidrs, so opcrew cannot verify the segments"}},
		"in the segment, but without its type": {[]pooltest.PoolOption{segments("10.1.0.0/16"), types("a")}, []pooltest.NodeOption{at("10.1.2.3")}, "Unknown NotReported", []string{"The label node.kubernetes.io/instance-type is missing on 1 node (n), so opcrew cannot verify the instance types"}},
	} {
		pool := pooltest.Pool("gold", test.pool...)
		node := settled(t, pooltest.Node("n", append(test.node, pooltest.Role("gold"))...), pool)
		reportAt(pool, factsOf(pool, []*nodesv1.NodePool{pool}, node), kit.Outcome{}, pooltest.SomeTime.Time)
		c := meta.FindStatusCondition(pool.Status.Conditions, nodesv1.NodePoolMachinesMatch)
		if c == nil {
			c = &metav1.Condition{}
		}
		if got := strings.TrimSpace(string(c.Status) + " " + c.Reason); got != test.want {
			t.Errorf("%s: expected %q, got %q: %s", name, test.want, got, c.Message)
		}
		for _, word := range test.words {
			if !strings.Contains(c.Message, word) {
				t.Errorf("%s: expected the message to contain %q, got %q", name, word, c.Message)
			}
		}
	}
}

func TestTheTemplateOfMachinesIsReported(t *testing.T) {
	fromClass := func(p *nodesv1.NodePool) {
		ref := &nodesv1.TemplateRef{APIVersion: "karpenter.k8s.aws/v1", Kind: "EC2NodeClass", Name: "gold"}
		p.Spec.Machine = &nodesv1.Machine{TemplateRef: ref}
		p.Generation = 2
	}
	madeFrom := func(class string) *machines.View {
		record := machines.Record{NodeName: "n", Kind: schema.GroupKind{Group: "karpenter.k8s.aws", Kind: "EC2NodeClass"}, Name: class}
		return machines.NewView(pooltest.SomeTime.Time, nil, []machines.Record{record})
	}
	missing := func(blocks bool) *machines.View {
		return &machines.View{Problem: &machines.Problem{Reason: nodesv1.ReasonTemplateMissing, Message: "it is missing", Blocks: blocks}}
	}
	earlier := func(generation int64) []metav1.Condition {
		return []metav1.Condition{{Type: nodesv1.NodePoolMachinesMatch, Status: "False", Reason: nodesv1.ReasonTemplateMismatch, ObservedGeneration: generation}}
	}
	for name, test := range map[string]struct {
		view        *machines.View
		before      []metav1.Condition
		want, ready string
	}{
		"made from the template":        {madeFrom("gold"), nil, "True AsWanted", "True"},
		"made from another":             {madeFrom("silver"), nil, "False TemplateMismatch", "False"},
		"the API is not served":         {missing(false), nil, "Unknown TemplateMissing", "True"},
		"the template does not exist":   {missing(true), nil, "False TemplateMissing", "False"},
		"not read yet":                  {nil, nil, "Unknown NotReported", "True"},
		"not read yet, after a restart": {nil, earlier(2), "False TemplateMismatch", "False"},
		"not read yet, after an edit":   {nil, earlier(1), "Unknown NotReported", "True"},
	} {
		pool := pooltest.Pool("gold", fromClass)
		pool.Status.Conditions = test.before
		f := factsOf(pool, []*nodesv1.NodePool{pool}, settled(t, pooltest.Node("n", pooltest.Role("gold")), pool))
		f.machines.View = test.view
		reportAt(pool, f, kit.Outcome{}, pooltest.SomeTime.Time)
		c := meta.FindStatusCondition(pool.Status.Conditions, nodesv1.NodePoolMachinesMatch)
		if got := string(c.Status) + " " + c.Reason; got != test.want {
			t.Errorf("%s: expected %q, got %q: %s", name, test.want, got, c.Message)
		}
		if got := meta.FindStatusCondition(pool.Status.Conditions, nodesv1.NodePoolReady); string(got.Status) != test.ready {
			t.Errorf("%s: expected Ready to be %s, got %s %s", name, test.ready, got.Status, got.Message)
		}
	}
}
