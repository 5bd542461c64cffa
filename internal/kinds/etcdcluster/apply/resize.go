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

// Resize requests the resources that are recorded on a pod. A pod that Kubernetes cannot resize is recreated. If a
// quota or a policy forbids the resize, Resize returns an error: it would refuse a new pod too, and the member would be
// missing.
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

// recreateForResize gives a pod settings that match no spec, so that it is recreated.
func (t Taker) recreateForResize(ctx context.Context, m model.Member) error {
	change := build.PodPatch{Pod: m.Pod}
	change.Annotate(model.SettingsAnnotation, "cannot be resized")
	patch, pod := change.Patch(), m.Pod.DeepCopy()
	return t.wrote(pod, t.Client.Patch(ctx, pod, client.RawPatch(patch.Type, patch.Data), client.FieldOwner(common.Name)))
}

// wrote records a write so that opcrew waits until the cache shows it, and classifies a failed write.
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

// cannotResize reports whether Kubernetes itself cannot resize a pod: either its version is older than 1.33, or its
// rules forbid the change. In the second case the error names a field.
func cannotResize(err error) bool {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return false
	}
	switch details := status.Status().Details; {
	case apierrors.IsMethodNotSupported(err), apierrors.IsNotFound(err): // the next read shows that the pod is gone
		return true
	case !apierrors.IsInvalid(err) || details == nil:
		return false
	default:
		return slices.ContainsFunc(details.Causes, func(c metav1.StatusCause) bool { return strings.HasPrefix(c.Field, "spec") })
	}
}
