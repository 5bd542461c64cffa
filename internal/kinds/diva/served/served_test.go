// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package served

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// logs holds the logs of pods by name and counts how often they are read.
type logs struct {
	lines map[string]string
	reads atomic.Int32
}

func (l *logs) read(ctx context.Context, pod *corev1.Pod) (string, error) {
	l.reads.Add(1)
	digest, ok := l.lines[pod.Name]
	if !ok {
		<-ctx.Done() // simulates a node that does not respond
		return "", errors.New("timeout")
	}
	return fmt.Sprintf("{\"msg\":\"Serving\",\"digest\":%q}\n", digest), nil
}

func TestPodsAreAskedUntilTheyServeWhatIsWantedAndNoLonger(t *testing.T) {
	l := &logs{lines: map[string]string{"a": "new", "b": "old"}}
	s, of, wanted := &Reader{Log: l.read}, client.ObjectKey{Name: "ops"}, func(*corev1.Pod) string { return "new" }
	pods := []*corev1.Pod{newPod("a", "client"), newPod("b", "client")}
	same(t, "what is served", map[string]string{"uid-of-a": "new", "uid-of-b": "old"}, s.Digests(t.Context(), of, pods, wanted))
	same(t, "reads", int32(2), l.reads.Load())
	l.lines["b"] = "new"
	same(t, "what is served then", map[string]string{"uid-of-a": "new", "uid-of-b": "new"}, s.Digests(t.Context(), of, pods, wanted))
	same(t, "reads: only the one that lagged", int32(3), l.reads.Load())
	s.Digests(t.Context(), of, pods, wanted)
	same(t, "reads when all have followed", int32(3), l.reads.Load())
	s.Digests(t.Context(), of, pods, func(*corev1.Pod) string { return "newer" })
	same(t, "reads when another is wanted", int32(5), l.reads.Load())
	s.Forget(of)
	s.Digests(t.Context(), of, pods, wanted)
	same(t, "reads when all is forgotten", int32(7), l.reads.Load())
}

func TestAPodThatCannotBeAskedServesNothingAndDelaysNoOther(t *testing.T) {
	l := &logs{lines: map[string]string{"b": "new"}}
	s := &Reader{Log: l.read}
	begin := time.Now()
	got := s.Digests(t.Context(), client.ObjectKey{Name: "ops"}, []*corev1.Pod{newPod("a", "client"), newPod("b", "client")}, func(*corev1.Pod) string { return "new" })
	same(t, "what is served", map[string]string{"uid-of-b": "new"}, got)
	if took := time.Since(begin); took > 2*askTimeout {
		t.Errorf("expected to wait %s at most, took %s", askTimeout, took)
	}
}

func newPod(name, role string) *corev1.Pod {
	pod := &corev1.Pod{}
	pod.Name, pod.UID = name, types.UID("uid-of-"+name)
	pod.Labels = map[string]string{"app.kubernetes.io/component": role}
	return pod
}

// same fails the test if two values differ. what describes the values in the failure message.
func same(t testing.TB, what string, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: not as expected (-expected +found):\n%s", what, diff)
	}
}
