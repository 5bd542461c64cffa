// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// crds is a fake cluster: a map from CRD names to the value of their label part-of.
type crds struct {
	client.Reader
	mu        sync.Mutex
	installed map[string]string
	err       error
}

func (c *crds) Get(_ context.Context, key client.ObjectKey, object client.Object, _ ...client.GetOption) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	partOf, ok := c.installed[key.Name]
	if c.err != nil {
		return c.err
	}
	if !ok {
		return apierrors.NewNotFound(schema.GroupResource{Resource: "customresourcedefinitions"}, key.Name)
	}
	object.SetLabels(map[string]string{"app.kubernetes.io/part-of": partOf})
	return nil
}

func (c *crds) set(installed map[string]string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.installed, c.err = installed, err
}

var etcd = Registration{Name: "etcd", CRDs: []string{"clusters.etcd", "backups.etcd"}}

func TestAKindIsServedOnlyWithAllOfItsOwnCRDs(t *testing.T) {
	for name, test := range map[string]struct {
		installed map[string]string
		why       []string
	}{
		"all are ours":    {map[string]string{"clusters.etcd": "opcrew", "backups.etcd": "opcrew"}, nil},
		"one is missing":  {map[string]string{"clusters.etcd": "opcrew"}, []string{"CRD backups.etcd is not installed"}},
		"one is foreign":  {map[string]string{"clusters.etcd": "coreos", "backups.etcd": "opcrew"}, []string{`CRD clusters.etcd was installed by another product`, `"coreos"`}},
		"one has no mark": {map[string]string{"clusters.etcd": "opcrew", "backups.etcd": ""}, []string{`CRD backups.etcd was installed by another product`, `is "", want opcrew`}},
		"both are amiss":  {map[string]string{"clusters.etcd": "x"}, []string{"clusters.etcd was installed", "; CRD backups.etcd is not"}},
	} {
		t.Run(name, func(t *testing.T) {
			why, err := whyUnserved(t.Context(), &crds{installed: test.installed}, etcd)
			if err != nil {
				t.Fatal(err)
			}
			if (why == "") != (test.why == nil) {
				t.Errorf("not served because %q, expected %q", why, test.why)
			}
			for _, part := range test.why {
				if !strings.Contains(why, part) {
					t.Errorf("not served because %q, expected it to say %q", why, part)
				}
			}
		})
	}
}

func TestACRDThatCannotBeReadIsNotTakenForMissing(t *testing.T) {
	_, err := whyUnserved(t.Context(), &crds{err: errors.New("connection refused")}, etcd)
	if err == nil || !strings.Contains(err.Error(), "read CRD clusters.etcd: connection refused") {
		t.Errorf("error %v, expected one that names the CRD and the cause", err)
	}
}

func TestTheProcessRestartsWhenAMissingCRDIsInstalled(t *testing.T) {
	cluster := &crds{}
	clock := clocktesting.NewFakeClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	watch := &crdWatch{reader: cluster, missing: []unserved{{etcd, "CRD clusters.etcd is not installed"}}, clock: clock}
	ended := make(chan error, 1)
	go func() { ended <- watch.Start(t.Context()) }()
	look := func() {
		for !clock.HasWaiters() {
			time.Sleep(time.Millisecond)
		}
		clock.Step(crdInterval)
	}
	running := func(why string) {
		t.Helper()
		select {
		case err := <-ended:
			t.Fatalf("it ended with %v, expected it to go on: %s", err, why)
		case <-time.After(20 * time.Millisecond):
		}
	}
	look()
	running("the CRDs are missing")
	cluster.set(map[string]string{"clusters.etcd": "opcrew"}, nil)
	look()
	running("one of two CRDs is missing")
	cluster.set(map[string]string{"clusters.etcd": "opcrew", "backups.etcd": "opcrew"}, errors.New("timeout"))
	look()
	running("the CRDs cannot be read")
	cluster.set(map[string]string{"clusters.etcd": "opcrew", "backups.etcd": "opcrew"}, nil)
	look()
	select {
	case err := <-ended:
		if !errors.Is(err, ErrRestart) {
			t.Errorf("it ended with %v, expected ErrRestart", err)
		}
	case <-time.After(10 * time.Second):
		t.Error("it goes on although both CRDs are there, expected it to end")
	}
}

func TestNothingIsPolledWhenEveryKindIsServed(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	clock := clocktesting.NewFakeClock(time.Now())
	if err := (&crdWatch{clock: clock}).Start(ctx); err != nil || ctx.Err() != nil {
		t.Errorf("it ended with %v (%v), expected it to end at once", err, ctx.Err())
	}
	if (&crdWatch{}).NeedLeaderElection() {
		t.Error("only the leader would report a missing CRD, expected every process to")
	}
}
