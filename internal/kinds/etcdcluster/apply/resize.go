// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package apply

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
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/build"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/settings"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/kit/ensure"
)

// Resize requests the spec's resources for a running pod. A pod that Kubernetes cannot resize is recreated. If a quota
// or policy forbids the resize, Resize fails and keeps the pod: a new pod would be refused too, and the member would be
// lost.
func (t Taker) Resize(ctx context.Context, c *etcdv1beta2.EtcdCluster, m model.Member) error {
	contest := m.Pod.UID + " resources"
	if wait := t.Children.Contest(contest, settings.Hash(c)); wait > 0 {
		return fmt.Errorf("another controller repeatedly reverts the resources of pod %s; opcrew does not set them until %s", m.Name, t.Children.Until(wait))
	}
	want, pod := settings.DesiredResources(c), m.Pod.DeepCopy()
	patch := settings.EncodeJSON(map[string]any{
		"metadata": map[string]any{"uid": pod.UID},
		"spec": map[string]any{"containers": []any{map[string]any{
			"name": model.Container, "resources": corev1.ResourceRequirements{Limits: want.Limits, Requests: want.Requests},
		}}},
	})
	err := t.Client.SubResource("resize").Patch(ctx, pod, client.RawPatch(types.StrategicMergePatchType, []byte(patch)), client.FieldOwner(common.Name))
	if err != nil {
		t.Children.Withdraw(contest)
	}
	if cannotResize(err) {
		return t.recreateForResize(ctx, m)
	}
	return t.wrote(pod, err)
}

// recreateForResize marks a pod as outdated, so that opcrew recreates it with the new resources. To mark the pod, it
// sets the pod's settings annotation to a value that matches no spec.
func (t Taker) recreateForResize(ctx context.Context, m model.Member) error {
	change := build.PodPatch{Pod: m.Pod}
	change.Annotate(model.SettingsAnnotation, "cannot be resized")
	patch, pod := change.Patch(), m.Pod.DeepCopy()
	return t.wrote(pod, t.Client.Patch(ctx, pod, client.RawPatch(patch.Type, patch.Data), client.FieldOwner(common.Name)))
}

// wrote handles the result of a write to a pod. After a successful write, opcrew waits until the cache shows the
// change. A conflict is retried; any other error is returned.
func (t Taker) wrote(pod *corev1.Pod, err error) error {
	switch {
	case err == nil:
		t.Children.Record(corev1.SchemeGroupVersion.WithKind("Pod"), pod)
		return nil
	case ensure.Outdated(err):
		return kit.ErrNotNow
	}
	return fmt.Errorf("resize pod %s: %w", client.ObjectKeyFromObject(pod), err)
}

// cannotResize reports whether an error means that Kubernetes cannot resize the pod: either Kubernetes is older than
// 1.33, or its validation forbids the change. In the second case the error names a field of the spec.
func cannotResize(err error) bool {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return false
	}
	switch details := status.Status().Details; {
	// NotFound means that this version of Kubernetes has no subresource resize, or that the pod is gone. If the pod is
	// gone, opcrew notices this when it next reads the pods.
	case apierrors.IsMethodNotSupported(err), apierrors.IsNotFound(err):
		return true
	case !apierrors.IsInvalid(err) || details == nil:
		return false
	default:
		return slices.ContainsFunc(details.Causes, func(c metav1.StatusCause) bool { return strings.HasPrefix(c.Field, "spec") })
	}
}
