// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package activity

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	egov1 "github.com/opcrew/opcrew/api/ego/v1"
)

const (
	// hostPatience is how long a pod may take to begin before its host is looked at; longer
	// and longer times pass between further looks, up to hostLooks.
	hostPatience = 10 * time.Second
	hostLooks    = 5 * time.Minute
)

// hostState is what the cluster knows of a host.
type hostState struct {
	// missing: there is no such node.
	missing bool
	// ready reports whether its kubelet is heard of and well; since when it is so, and in whose words.
	ready bool
	since time.Time
	words string
	// boot tells one boot from the next.
	boot string
}

// readHost reads a host's node, which no cache has: heartbeats of all would come with it.
func (r *reconciler) readHost(ctx context.Context, host string) (*hostState, error) {
	node := &corev1.Node{}
	err := r.Live.Get(ctx, types.NamespacedName{Name: host}, node)
	if apierrors.IsNotFound(err) {
		return &hostState{missing: true}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read node %s: %w", host, err)
	}
	return stateOf(node), nil
}

func stateOf(node *corev1.Node) *hostState {
	out := &hostState{boot: node.Status.NodeInfo.BootID}
	for _, c := range node.Status.Conditions {
		if c.Type == corev1.NodeReady {
			out.ready, out.since, out.words = c.Status == corev1.ConditionTrue, c.LastTransitionTime.Time, c.Message
		}
	}
	return out
}

// explains reports whether the host may explain what a pod says: that it does not begin, is not
// heard of, or has ended without a word. Whatever goes its way asks for none.
func explains(a *egov1.Activity, f facts, now time.Time) bool {
	switch pod := f.pod; {
	case pod == nil || over(a):
		return false
	case ended(pod):
		return told(pod) == nil && pod.Annotations[bootAnnotation] != ""
	case begun(pod):
		return !hostAnswers(pod)
	default:
		return is(pod, corev1.PodScheduled, corev1.ConditionFalse) || now.Sub(pod.CreationTimestamp.Time) >= hostPatience
	}
}

// lookAgain is when to look again at a pod that has not begun, within the time that is left.
func lookAgain(pod *corev1.Pod, left time.Duration, now time.Time) time.Duration {
	return min(left, max(hostPatience, min(hostLooks, now.Sub(pod.CreationTimestamp.Time))))
}

// restarted reports whether the host was, since a pod was made for it.
func (h *hostState) restarted(pod *corev1.Pod) bool {
	was := pod.Annotations[bootAnnotation]
	return h != nil && h.boot != "" && was != "" && h.boot != was
}

// down says what is wrong with a host, or is empty: nothing, or no one has asked.
func (h *hostState) down(name string) string {
	switch {
	case h == nil || h.ready:
		return ""
	case h.missing:
		return "there is no node " + name + " any more"
	case h.since.IsZero():
		return "node " + name + " is not Ready"
	}
	text := fmt.Sprintf("node %s is not Ready since %s", name, h.since.UTC().Format(time.RFC3339))
	if h.words != "" {
		text += ": " + h.words
	}
	return text
}
