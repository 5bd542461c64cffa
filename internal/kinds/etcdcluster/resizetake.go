// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/api/common"
	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kit"
)

// takeResize gives a member the resources that the spec says, and notes on the pod that it has them
// once its kubelet has seen to that. What stands in the pod is read anew: the cache does not keep it.
func (r *reconciler) takeResize(ctx context.Context, c *etcdv1beta2.EtcdCluster, m member) error {
	pod := &corev1.Pod{}
	there, err := r.ours(ctx, c, client.ObjectKey{Namespace: c.Namespace, Name: m.name}, pod)
	switch {
	case err != nil:
		return err
	case !there || pod.UID != m.pod.UID || pod.Annotations[wishesAnnotation] == wishes(c):
		return kit.ErrNotNow // the cache is about to show it
	case !gives(pod, desired(c)):
		return r.askResize(ctx, c, pod)
	case pod.Status.ObservedGeneration != 0 && pod.Status.ObservedGeneration < pod.Generation, underResize(pod) != "":
		return kit.ErrNotNow
	}
	change := podChange{pod: pod}
	change.annotate(wishesAnnotation, wishes(c))
	change.annotate(resourcesAnnotation, encoded(c.Spec.Pod.Resources))
	note := change.patch()
	return r.wrote(pod, r.Client.Patch(ctx, pod, client.RawPatch(note.Type, note.Data), client.FieldOwner(common.Name)))
}

// askResize asks for it. What the API server refuses, or does not know how to do, is remembered: the
// pod is made anew for it instead. That would not help against a quota, and cost the member.
func (r *reconciler) askResize(ctx context.Context, c *etcdv1beta2.EtcdCluster, pod *corev1.Pod) error {
	want := desired(c)
	patch := map[string]any{
		"metadata": map[string]any{"uid": pod.UID},
		"spec": map[string]any{"containers": []any{map[string]any{
			"name": container, "resources": corev1.ResourceRequirements{Limits: want.Limits, Requests: want.Requests},
		}}},
	}
	err := r.Client.SubResource("resize").Patch(ctx, pod, client.RawPatch(types.StrategicMergePatchType, []byte(encoded(patch))), client.FieldOwner(common.Name))
	forbidden := apierrors.IsForbidden(err) && !strings.Contains(err.Error(), "exceeded quota")
	if forbidden || apierrors.IsInvalid(err) || apierrors.IsMethodNotSupported(err) || apierrors.IsNotFound(err) {
		r.unresizable.note(client.ObjectKeyFromObject(c), pod.UID, wishes(c))
		return kit.ErrNotNow
	}
	return r.wrote(pod, err)
}

// wrote remembers a write until the cache shows it, and sorts a failed one.
func (r *reconciler) wrote(pod *corev1.Pod, err error) error {
	switch {
	case err == nil:
		r.Writes().Record(corev1.SchemeGroupVersion.WithKind("Pod"), pod)
		return nil
	case apierrors.IsConflict(err), apierrors.IsNotFound(err), kit.TestFailed(err):
		return kit.ErrNotNow
	}
	return fmt.Errorf("resize pod %s: %w", client.ObjectKeyFromObject(pod), err)
}

// unresizable remembers, of each cluster, the pods that could not be resized, and for which wishes.
type unresizable struct {
	mu   sync.Mutex
	pods map[client.ObjectKey]map[types.UID]string
}

func (u *unresizable) note(key client.ObjectKey, pod types.UID, wishes string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.pods == nil {
		u.pods = map[client.ObjectKey]map[types.UID]string{}
	}
	if u.pods[key] == nil {
		u.pods[key] = map[types.UID]string{}
	}
	u.pods[key][pod] = wishes
}

func (u *unresizable) of(key client.ObjectKey) map[types.UID]string {
	u.mu.Lock()
	defer u.mu.Unlock()
	return maps.Clone(u.pods[key])
}

func (u *unresizable) forget(key client.ObjectKey) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.pods, key)
}

// gives tells whether etcd's container is declared to have that much.
func gives(pod *corev1.Pod, want corev1.ResourceRequirements) bool {
	same := func(has, want corev1.ResourceList) bool {
		for name, quantity := range want {
			if is, there := has[name]; !there || !is.Equal(quantity) {
				return false
			}
		}
		return true
	}
	has := pod.Spec.Containers[0].Resources
	return same(has.Limits, want.Limits) && same(has.Requests, want.Requests)
}

func encoded(value any) string {
	text, err := json.Marshal(value)
	if err != nil { // plain data
		panic(fmt.Errorf("encode: %w", err))
	}
	return string(text)
}
