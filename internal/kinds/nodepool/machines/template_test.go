// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package machines

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
)

var (
	readAt      = time.Date(2026, 11, 26, 6, 0, 0, 0, time.UTC)
	nodeClass   = nodesv1.TemplateRef{APIVersion: "karpenter.k8s.aws/v1", Kind: "EC2NodeClass", Name: "gold"}
	awsTemplate = nodesv1.TemplateRef{APIVersion: "infrastructure.cluster.x-k8s.io/v1beta2", Kind: "AWSMachineTemplate", Name: "gold", Namespace: "capi"}
)

// claimOf returns a NodeClaim as Karpenter writes it.
func claimOf(class, node, provider string) string {
	return fmt.Sprintf(`
apiVersion: karpenter.sh/v1
kind: NodeClaim
metadata: {name: gold-x2x4z}
spec:
  nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: %s}
  requirements: [{key: kubernetes.io/os, operator: In, values: [linux]}]
status: {nodeName: %s, providerID: "%s", conditions: [{type: Ready, status: "True"}]}`, class, node, provider)
}

// machineOf returns an AWSMachine as Cluster API and its provider write it.
func machineOf(template, provider string, groups ...string) string {
	return fmt.Sprintf(`
apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
kind: AWSMachine
metadata:
  namespace: capi
  name: gold-7k2
  annotations:
    cluster.x-k8s.io/cloned-from-name: %s
    cluster.x-k8s.io/cloned-from-groupkind: AWSMachineTemplate.infrastructure.cluster.x-k8s.io
spec:
  providerID: "%s"
  instanceType: m6i.large
  additionalSecurityGroups: [{id: "%s"}, {filters: [{name: tag:a, values: [b]}]}]
  securityGroupOverrides: {node: sg-node}`, template, provider, strings.Join(groups, `"}, {id: "`))
}

func object(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	out := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &out.Object); err != nil {
		t.Fatal(err)
	}
	return out
}

// look returns a view of a template with the machines in the given objects.
func look(t *testing.T, ref nodesv1.TemplateRef, groups []string, objects ...string) *View {
	t.Helper()
	var records []Record
	for _, text := range objects {
		records = append(records, RecordOf(SourceOf(ref), object(t, text)))
	}
	return NewView(readAt, groups, records)
}

func poolOf(ref nodesv1.TemplateRef, groups ...nodesv1.SecurityGroup) *nodesv1.NodePool {
	pool := &nodesv1.NodePool{}
	pool.Spec.Machine = &nodesv1.Machine{TemplateRef: &ref, SecurityGroups: groups}
	return pool
}

// nodeOf returns a node that was created some time before the reading.
func nodeOf(name, provider string, before time.Duration) *corev1.Node {
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, CreationTimestamp: metav1.NewTime(readAt.Add(-before))}}
	n.Spec.ProviderID = provider
	return n
}

func TestTheOriginOfMachinesIsVerified(t *testing.T) {
	const id, other = "aws:///eu-central-1a/i-0a1", "aws:///eu-central-1a/i-0b2"
	old := nodeOf("node1", id, time.Hour)
	for name, test := range map[string]struct {
		ref     nodesv1.TemplateRef
		node    *corev1.Node
		objects []string
		want    string
	}{
		"a NodeClaim with the provider ID":            {nodeClass, old, []string{claimOf("gold", "node1", id)}, "match"},
		"a NodeClaim with only the node name":         {nodeClass, nodeOf("node1", "", time.Hour), []string{claimOf("gold", "node1", "")}, "match"},
		"a NodeClaim of another class":                {nodeClass, old, []string{claimOf("silver", "node1", id)}, "TemplateMismatch: was not made from EC2NodeClass gold"},
		"no NodeClaim":                                {nodeClass, old, []string{claimOf("gold", "m", other)}, "TemplateMismatch: has no NodeClaim of Karpenter"},
		"the NodeClaim of an earlier node":            {nodeClass, old, []string{claimOf("gold", "node1", other)}, "TemplateMismatch: has no NodeClaim of Karpenter"},
		"no NodeClaim, but the node is new":           {nodeClass, nodeOf("node1", id, 0), nil, "unknown"},
		"two NodeClaims":                              {nodeClass, old, []string{claimOf("gold", "node1", id), claimOf("silver", "node1", id)}, "unknown"},
		"a NodeClaim without a class":                 {nodeClass, old, []string{claimOf("{}", "node1", id)}, "unknown"},
		"an AWSMachine":                               {awsTemplate, old, []string{machineOf("gold", id)}, "match"},
		"an AWSMachine of another template":           {awsTemplate, old, []string{machineOf("silver", id)}, "TemplateMismatch: was not made from AWSMachineTemplate gold"},
		"an AWSMachine of another kind of template":   {awsTemplate, old, []string{strings.Replace(machineOf("gold", id), "AWSMachineTemplate.", "AWSPoolTemplate.", 1)}, "TemplateMismatch"},
		"an AWSMachine without annotations":           {awsTemplate, old, []string{strings.ReplaceAll(machineOf("gold", id), "cloned-from", "other")}, "unknown"},
		"no AWSMachine":                               {awsTemplate, old, nil, "TemplateMismatch: has no AWSMachine in namespace capi"},
		"a node of Cluster API without a provider ID": {awsTemplate, nodeOf("node1", "", time.Hour), nil, "unknown"},
	} {
		got := summary(Verify(poolOf(test.ref), []*corev1.Node{test.node}, look(t, test.ref, nil, test.objects...)))
		if !strings.HasPrefix(got, test.want) {
			t.Errorf("%s: expected %q, got %q", name, test.want, got)
		}
	}
}

func TestSecurityGroupsAreVerifiedWhereObjectsShowThem(t *testing.T) {
	const id = "aws:///eu-central-1a/i-0a1"
	drifted := strings.Replace(claimOf("gold", "node1", id), "type: Ready", "type: Drifted", 1)
	shown := ClassGroups(object(t, "status: {securityGroups: [{id: sg-1, name: nodes of gold}, {id: sg-2}]}"))
	for name, test := range map[string]struct {
		ref    nodesv1.TemplateRef
		class  []string
		object string
		groups []nodesv1.SecurityGroup
		want   string
	}{
		"no group is required":                     {nodeClass, shown, claimOf("gold", "node1", id), nil, "match"},
		"the class has the groups":                 {nodeClass, shown, claimOf("gold", "node1", id), []nodesv1.SecurityGroup{"sg-2", "nodes of gold"}, "match"},
		"the class lacks a group":                  {nodeClass, shown, claimOf("gold", "node1", id), []nodesv1.SecurityGroup{"sg-1", "sg-3"}, "SecurityGroupMismatch: was made from EC2NodeClass gold, which does not have the security group sg-3"},
		"the class shows no groups":                {nodeClass, nil, claimOf("gold", "node1", id), []nodesv1.SecurityGroup{"sg-1"}, "unknown"},
		"the machine drifted from its class":       {nodeClass, shown, drifted, []nodesv1.SecurityGroup{"sg-1"}, "unknown"},
		"another template comes before its groups": {nodeClass, shown, claimOf("silver", "node1", id), []nodesv1.SecurityGroup{"sg-3"}, "TemplateMismatch"},
		"the machine names the group":              {awsTemplate, nil, machineOf("gold", id, "sg-8", "sg-9"), []nodesv1.SecurityGroup{"sg-9", "sg-node"}, "match"},
		"the group may be one of the cluster":      {awsTemplate, nil, machineOf("gold", id, "sg-8"), []nodesv1.SecurityGroup{"sg-9"}, "unknown"},
	} {
		got := summary(Verify(poolOf(test.ref, test.groups...), []*corev1.Node{nodeOf("node1", id, time.Hour)}, look(t, test.ref, test.class, test.object)))
		if !strings.HasPrefix(got, test.want) {
			t.Errorf("%s: expected %q, got %q", name, test.want, got)
		}
	}
}

func TestAMismatchCountsMoreThanWhatIsUnknown(t *testing.T) {
	nodes := []*corev1.Node{nodeOf("new", "id-new", 0), nodeOf("old", "id-old", time.Hour)}
	view := look(t, nodeClass, []string{"sg-1"}, claimOf("gold", "old", "id-old"))
	if got := Verify(poolOf(nodeClass, "sg-2"), nodes, view); !slices.Equal(got.Wrong, []string{"old"}) || got.Reason != nodesv1.ReasonSecurityGroupMismatch {
		t.Errorf("expected the node without the group to be named although another one is unknown, got %+v", got)
	}
	pool := poolOf(nodeClass)
	pool.Spec.CIDRs = []nodesv1.CIDR{"10.0.0.0/8"}
	if got := Verify(pool, nodes, nil); !got.Pending {
		t.Errorf("expected the result to be pending until the machines are read, got %+v", got)
	}
	missing := &View{Problem: &Problem{Reason: nodesv1.ReasonTemplateMissing}}
	if got := Verify(pool, nodes, missing); got.Problem != missing.Problem {
		t.Errorf("expected the missing template to be reported, got %+v", got)
	}
	nodes[0].Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: "192.0.2.1"}}
	if got := Verify(pool, nodes, missing); got.Reason != nodesv1.ReasonSegmentMismatch {
		t.Errorf("expected the wrong segment to be reported although the template is missing, got %+v", got)
	}
}

func TestMachinesAreReadAgainSoonWhileANodeIsTooNew(t *testing.T) {
	view := look(t, nodeClass, nil, claimOf("gold", "old", "id-old"))
	for name, test := range map[string]struct {
		node *corev1.Node
		view *View
		want time.Duration
	}{
		"a known node":          {nodeOf("old", "id-old", 0), view, Interval},
		"a new node":            {nodeOf("new", "id-new", 0), view, Retry},
		"a node without object": {nodeOf("bare", "", time.Hour), view, Interval},
		"a problem":             {nodeOf("old", "id-old", 0), &View{At: readAt, Problem: &Problem{}}, Retry},
	} {
		if got := Wait([]*corev1.Node{test.node}, test.view); got != test.want {
			t.Errorf("%s: expected the next reading after %s, got %s", name, test.want, got)
		}
	}
}

func TestHostileObjectsShowNothing(t *testing.T) {
	for _, text := range []string{
		"{}", "spec: 1\nstatus: []", "spec: {nodeClassRef: [1], providerID: {}}", "status: {conditions: [1, {type: 2}], nodeName: [a]}",
		"metadata: {annotations: [1]}\nspec: {additionalSecurityGroups: {id: a}, securityGroupOverrides: [1]}",
		"spec: {additionalSecurityGroups: [[], 1, {id: 2}], securityGroupOverrides: {a: 1}, providerID: " + strings.Repeat("a", maxText+1) + "}",
		"status: {securityGroups: [1, {id: [a]}, {name: {}}]}",
	} {
		o := object(t, text)
		for _, ref := range []nodesv1.TemplateRef{nodeClass, awsTemplate} {
			if got := RecordOf(SourceOf(ref), o); got.Name != "" || got.NodeName != "" || got.ProviderID != "" || len(got.Groups) > 0 {
				t.Errorf("%s: expected nothing to be read from %q, got %+v", ref.Kind, text, got)
			}
		}
		if got := ClassGroups(o); len(got) > 0 {
			t.Errorf("expected no groups in %q, got %v", text, got)
		}
	}
	many := object(t, "status: {securityGroups: ["+strings.Repeat("{id: a}, ", 1000)+"]}")
	if got := len(ClassGroups(many)); got != maxGroups {
		t.Errorf("expected at most %d groups to be kept, got %d", maxGroups, got)
	}
}

func summary(r Result) string {
	switch {
	case r.Reason != "":
		return r.Reason + ": " + r.First
	case len(r.Silent) > 0:
		return "unknown"
	}
	return "match"
}
