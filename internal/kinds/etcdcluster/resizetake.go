// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/api/common"
	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kit"
)

// takeResize asks for the resources that were noted. A pod that Kubernetes cannot resize is recreated; what
// is forbidden, by a quota or a policy, would be so for a new pod too, and cost the member: that is an error.
func (r *reconciler) takeResize(ctx context.Context, c *etcdv1beta2.EtcdCluster, m member) error {
	contest := m.pod.UID + " resources"
	if wait := r.Children.Contests.Enter(contest, wishes(c)); wait > 0 {
		return fmt.Errorf("the resources of pod %s are changed back again and again; they are left alone until %s", m.name, r.Children.Contests.Until(wait))
	}
	want, pod := desired(c), m.pod.DeepCopy()
	patch := encoded(map[string]any{
		"metadata": map[string]any{"uid": pod.UID},
		"spec": map[string]any{"containers": []any{map[string]any{
			"name": container, "resources": corev1.ResourceRequirements{Limits: want.Limits, Requests: want.Requests},
		}}},
	})
	err := r.Client.SubResource("resize").Patch(ctx, pod, client.RawPatch(types.StrategicMergePatchType, []byte(patch)), client.FieldOwner(common.Name))
	if err != nil {
		r.Children.Contests.Withdraw(contest)
	}
	if cannotResize(err) {
		return r.giveUpResize(ctx, m)
	}
	return r.wrote(pod, err)
}

// giveUpResize notes on a pod that it was made for nothing that is asked for now.
func (r *reconciler) giveUpResize(ctx context.Context, m member) error {
	change := podChange{pod: m.pod}
	change.annotate(wishesAnnotation, "cannot be resized")
	patch, pod := change.patch(), m.pod.DeepCopy()
	return r.wrote(pod, r.Client.Patch(ctx, pod, client.RawPatch(patch.Type, patch.Data), client.FieldOwner(common.Name)))
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

// cannotResize reports whether it is Kubernetes itself that does not resize a pod: it does not know how
// (before 1.33), or its rules for what may be changed while a pod runs forbid it, which name a field.
func cannotResize(err error) bool {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return false
	}
	switch details := status.Status().Details; {
	case apierrors.IsMethodNotSupported(err), apierrors.IsNotFound(err): // a pod that is gone is found to be, next
		return true
	case !apierrors.IsInvalid(err) || details == nil:
		return false
	default:
		return slices.ContainsFunc(details.Causes, func(c metav1.StatusCause) bool { return strings.HasPrefix(c.Field, "spec") })
	}
}
