// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package reading

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
	"github.com/opcrew/opcrew/internal/kinds/nodepool/machines"
)

// server is an API server with one NodeClass and a number of NodeClaims. It counts requests.
type server struct {
	claims, gets, lists int
	get, list           error
	// unserved is set if the CRDs were removed, and undiscovered is the error of discovery.
	unserved     bool
	undiscovered error
	discoveries  int
	block        chan struct{}
}

func (s *server) Serves(context.Context, schema.GroupVersionKind) (bool, error) {
	s.discoveries++
	return !s.unserved, s.undiscovered
}

func (s *server) Get(ctx context.Context, _ client.ObjectKey, object client.Object, _ ...client.GetOption) error {
	s.gets++
	if s.block != nil {
		<-s.block
	}
	if u, ok := object.(*unstructured.Unstructured); ok {
		u.Object["status"] = map[string]any{"securityGroups": []any{map[string]any{"id": "sg-1"}}}
	}
	return errors.Join(s.get, ctx.Err())
}

func (s *server) List(_ context.Context, objects client.ObjectList, options ...client.ListOption) error {
	s.lists++
	asked := &client.ListOptions{}
	asked.ApplyOptions(options)
	first := 0
	if _, err := fmt.Sscan(asked.Continue, &first); err != nil {
		first = 0
	}
	list := objects.(*unstructured.UnstructuredList)
	for i := first; i < min(first+int(asked.Limit), s.claims); i++ {
		list.Items = append(list.Items, unstructured.Unstructured{Object: map[string]any{
			"spec":   map[string]any{"nodeClassRef": map[string]any{"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "gold"}},
			"status": map[string]any{"nodeName": fmt.Sprintf("n%d", i)},
		}})
	}
	if first += int(asked.Limit); first < s.claims {
		list.SetContinue(fmt.Sprint(first))
	}
	return s.list
}

func pool(name, class string, groups ...nodesv1.SecurityGroup) *nodesv1.NodePool {
	p := &nodesv1.NodePool{}
	p.Name = name
	p.Spec.Machine = &nodesv1.Machine{
		TemplateRef:    &nodesv1.TemplateRef{APIVersion: "karpenter.k8s.aws/v1", Kind: "EC2NodeClass", Name: class},
		SecurityGroups: groups,
	}
	return p
}

func node(name string) *corev1.Node {
	n := &corev1.Node{}
	n.Name = name
	return n
}

// bench is a Reader that runs, and its server and clock.
type bench struct {
	*testing.T
	*server
	clock  *clocktesting.FakeClock
	reader *Reader
}

func start(t *testing.T, s *server) *bench {
	t.Helper()
	b := &bench{T: t, server: s, clock: clocktesting.NewFakeClock(time.Date(2026, 11, 26, 6, 0, 0, 0, time.UTC))}
	b.reader = New(s, s, b.clock)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- b.reader.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return b
}

// woken waits until the reader enqueues a NodePool.
func (b *bench) woken(name string) {
	b.Helper()
	select {
	case e := <-b.reader.Woken():
		if e.Object.Name != name {
			b.Fatalf("expected NodePool %s to be reconciled, got %s", name, e.Object.Name)
		}
	case <-time.After(20 * time.Second):
		b.Fatalf("expected NodePool %s to be reconciled after the reading", name)
	}
}

func (b *bench) requests(gets, lists int) {
	b.Helper()
	if b.gets != gets || b.lists != lists || b.discoveries > 0 {
		b.Errorf("expected %d gets and %d lists so far, and no discovery, got %d, %d and %d", gets, lists, b.gets, b.lists, b.discoveries)
	}
}

func TestMachinesAreReadOnceAndThenEveryFewMinutes(t *testing.T) {
	b := start(t, &server{claims: 250})
	gold, members := pool("gold", "gold"), []*corev1.Node{node("n249")}
	if f := b.reader.Observe(gold, members); f.View != nil || f.Again != machines.Retry {
		t.Errorf("expected no view before the first reading, got %+v", f)
	}
	b.woken("gold")
	b.requests(1, 3)
	for range 3 {
		f := b.reader.Observe(gold, members)
		if f.View == nil || f.Again != machines.Interval {
			t.Errorf("expected a view and the next reading in %s, got %+v", machines.Interval, f)
		}
		if got := machines.Verify(gold, members, f.View); got.Reason != "" || len(got.Silent) > 0 {
			t.Errorf("expected the node on the third page to match, got %+v", got)
		}
	}
	b.clock.Step(machines.Interval - time.Second)
	if f := b.reader.Observe(gold, members); f.Again != time.Second {
		t.Errorf("expected the next reading in a second, got %s", f.Again)
	}
	b.requests(1, 3)
	b.clock.Step(time.Second)
	if f := b.reader.Observe(gold, members); f.View == nil {
		t.Error("expected the last view until the next reading has ended")
	}
	b.woken("gold")
	b.requests(2, 6)
}

func TestNodePoolsShareAListOfMachines(t *testing.T) {
	b := start(t, &server{claims: 1})
	for i, name := range []string{"gold", "silver", "bronze"} {
		b.reader.Observe(pool(name, name), nil)
		b.woken(name)
		b.requests(i+1, 1)
	}
}

func TestAPoolWithoutATemplateCausesNoRequest(t *testing.T) {
	b := start(t, &server{})
	gone := pool("gone", "gold")
	gone.DeletionTimestamp = &gone.CreationTimestamp
	for _, p := range []*nodesv1.NodePool{{}, {Spec: nodesv1.NodePoolSpec{MachineChecks: nodesv1.MachineChecks{Machine: &nodesv1.Machine{}}}}, gone} {
		if f := b.reader.Observe(p, []*corev1.Node{node("n0")}); f != (Facts{}) {
			t.Errorf("expected nothing to be read, got %+v", f)
		}
	}
	b.requests(0, 0)
}

func TestASlowServerDelaysNoReconcile(t *testing.T) {
	s := &server{block: make(chan struct{})}
	b := start(t, s)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for i := range 100 {
			b.reader.Observe(pool(fmt.Sprint("p", i), fmt.Sprint("c", i)), nil)
		}
	}()
	select {
	case <-ended:
	case <-time.After(20 * time.Second):
		t.Error("expected reconciles to go on while the API server does not answer")
	}
	close(s.block)
}

func TestUnusedTargetsAreForgotten(t *testing.T) {
	b := start(t, &server{claims: 1})
	b.reader.Observe(pool("gold", "gold"), nil)
	b.woken("gold")
	b.clock.Step(3 * machines.Interval)
	b.reader.Observe(pool("silver", "silver"), nil)
	b.woken("silver")
	b.clock.Step(machines.Interval)
	b.reader.Observe(pool("silver", "silver"), nil)
	b.woken("silver")
	b.reader.mu.Lock()
	defer b.reader.mu.Unlock()
	if _, kept := b.reader.targets[target{ref: *pool("gold", "gold").Spec.Machine.TemplateRef}]; kept {
		t.Error("expected the template that no NodePool names any more to be forgotten")
	}
}

func TestTooManyMachinesAreReported(t *testing.T) {
	b := start(t, &server{claims: pageSize*maxPages + 1})
	b.reader.Observe(pool("gold", "gold"), nil)
	b.woken("gold")
	f := b.reader.Observe(pool("gold", "gold"), nil)
	if f.View.Problem == nil || !strings.Contains(f.View.Problem.Message, "more than 10000 objects") {
		t.Errorf("expected the number of objects to be reported, got %+v", f.View.Problem)
	}
	b.requests(1, maxPages)
}

func TestSecurityGroupsOfANodeClassAreReadOnlyIfNeeded(t *testing.T) {
	b := start(t, &server{claims: 1})
	p := pool("gold", "gold", "sg-1")
	b.reader.Observe(p, nil)
	b.woken("gold")
	if got := machines.Verify(p, []*corev1.Node{node("n0")}, b.reader.Observe(p, nil).View); got.Reason != "" || len(got.Silent) > 0 {
		t.Errorf("expected the group of the NodeClass to be known, got %+v", got)
	}
}

// The RESTMapper still knows a kind whose CRD was removed, so the API server checks the right to it first.
func TestAKindIsReportedAsRemovedAndReadAgainWhenItReturns(t *testing.T) {
	resource := schema.GroupResource{Group: "karpenter.k8s.aws", Resource: "ec2nodeclasses"}
	noPath := apierrors.NewGenericServerResponse(404, "get", resource, "gold", "404 page not found", 0, true)
	noRight := apierrors.NewForbidden(resource, "gold", nil)
	for name, test := range map[string]struct {
		get, undiscovered error
		want              string
	}{
		"with the right to read it":     {noPath, nil, "The API server does not serve kind EC2NodeClass in karpenter.k8s.aws/v1; install its CRD, or correct spec.machine.templateRef"},
		"without the right":             {noRight, nil, "The API server does not serve kind EC2NodeClass in karpenter.k8s.aws/v1; install its CRD, or correct spec.machine.templateRef"},
		"while discovery does not work": {noRight, errors.New("no answer"), "opcrew is not allowed to get EC2NodeClass gold; " + grant(*pool("gold", "gold").Spec.Machine.TemplateRef)},
	} {
		b := start(t, &server{claims: 1, get: test.get, unserved: true, undiscovered: test.undiscovered})
		b.reader.Observe(pool("gold", "gold"), nil)
		b.woken("gold")
		f := b.reader.Observe(pool("gold", "gold"), nil)
		if f.View.Problem == nil || f.View.Problem.Message != test.want || f.View.Problem.Blocks || f.Again != machines.Retry {
			t.Errorf("%s: expected %q and another reading in a minute, got %+v", name, test.want, f.View.Problem)
		}
		b.get, b.unserved = nil, false
		b.clock.Step(machines.Retry)
		b.reader.Observe(pool("gold", "gold"), nil)
		b.woken("gold")
		if f = b.reader.Observe(pool("gold", "gold"), nil); f.View.Problem != nil {
			t.Errorf("%s: expected no problem when the CRD is back, got %+v", name, f.View.Problem)
		}
	}
}

func TestErrorsSayWhatIsMissingAndWhatToDo(t *testing.T) {
	resource := schema.GroupResource{Group: "karpenter.k8s.aws", Resource: "ec2nodeclasses"}
	for name, test := range map[string]struct {
		get, list error
		want      string
		words     []string
	}{
		"no CRD of the class":   {&meta.NoKindMatchError{}, nil, "TemplateMissing", []string{"kind EC2NodeClass in karpenter.k8s.aws/v1", "install its CRD"}},
		"no class":              {apierrors.NewNotFound(resource, "gold"), nil, "TemplateMissing blocks", []string{"EC2NodeClass gold does not exist", "create it"}},
		"no CRD of the machine": {nil, &meta.NoKindMatchError{}, "TemplateMissing", []string{"kind NodeClaim in karpenter.sh/v1"}},
		"a deleted CRD":         {nil, apierrors.NewNotFound(resource, ""), "TemplateMissing", []string{"kind NodeClaim"}},
		"no right":              {apierrors.NewForbidden(resource, "gold", errors.New("secret words")), nil, "TemplateUnreadable", []string{"not allowed to get EC2NodeClass gold", "kubectl create clusterrolebinding opcrew-karpenter --clusterrole opcrew-karpenter-machines"}},
		"no right to list":      {nil, apierrors.NewForbidden(resource, "", errors.New("secret words")), "TemplateUnreadable", []string{"not allowed to list objects of kind NodeClaim"}},
		"a timeout":             {nil, fmt.Errorf("secret words: %w", context.DeadlineExceeded), "TemplateUnreadable", []string{"within 30s"}},
		"a large answer":        {fmt.Errorf("secret words: %w", errTooLarge), nil, "TemplateUnreadable", []string{"more than 8 MiB"}},
		"another error":         {nil, errors.New("secret words"), "TemplateUnreadable", []string{"the log of the operator has the error"}},
	} {
		b := start(t, &server{get: test.get, list: test.list})
		b.reader.Observe(pool("gold", "gold"), nil)
		b.woken("gold")
		f := b.reader.Observe(pool("gold", "gold"), nil)
		if f.View.Problem == nil {
			t.Errorf("%s: expected a problem", name)
			continue
		}
		got := f.View.Problem.Reason
		if f.View.Problem.Blocks {
			got += " blocks"
		}
		if got != test.want || f.Again != machines.Retry {
			t.Errorf("%s: expected %s and another reading in a minute, got %s and %s", name, test.want, got, f.Again)
		}
		for _, word := range test.words {
			if !strings.Contains(f.View.Problem.Message, word) {
				t.Errorf("%s: expected the message to contain %q, got %q", name, word, f.View.Problem.Message)
			}
		}
		if strings.Contains(f.View.Problem.Message, "secret words") {
			t.Errorf("%s: expected the text of the error to stay in the log, got %q", name, f.View.Problem.Message)
		}
	}
}
