// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/api/common"
	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
)

// ReadDisk returns which nodes can use the volume of an unschedulable pod, and whether all of them are gone. It reads
// the volume from the API server, and the nodes with the given reader.
func (t Taker) ReadDisk(ctx context.Context, reader client.Reader, pod *corev1.Pod, claim *corev1.PersistentVolumeClaim) (model.Disk, error) {
	if model.UnschedulableSince(pod).IsZero() || claim == nil || claim.Spec.VolumeName == "" {
		return model.Disk{}, nil
	}
	volume := &corev1.PersistentVolume{}
	if found, err := t.Found(ctx, client.ObjectKey{Name: claim.Spec.VolumeName}, volume); err != nil || !found {
		return model.Disk{}, err
	}
	out := model.Disk{Nodes: model.NodesOf(volume)}
	out.Gone = len(out.Nodes) > 0
	for _, host := range out.Nodes {
		list := &corev1.NodeList{}
		if err := reader.List(ctx, list, client.MatchingLabels{corev1.LabelHostname: host}); err != nil {
			return model.Disk{}, fmt.Errorf("list the nodes called %s: %w", host, err)
		}
		if n := len(list.Items); n > 0 && !model.NodeOf(&list.Items[n-1]).OutOfService {
			out.Gone = false
		}
	}
	return out, nil
}

// LiveMember reads the pod, the claim and the node of a member from the API server instead of the cache.
func (t Taker) LiveMember(ctx context.Context, c *etcdv1beta2.EtcdCluster, m model.Member) (model.Member, error) {
	pod, claim := &corev1.Pod{}, &corev1.PersistentVolumeClaim{}
	key := client.ObjectKey{Namespace: c.Namespace, Name: m.Name}
	m.Pod, m.Claim, m.Node = nil, nil, nil
	if found, err := t.ours(ctx, c, key, pod); err != nil {
		return m, err
	} else if found {
		m.Pod = pod
	}
	if found, err := t.ours(ctx, c, key, claim); err != nil {
		return m, err
	} else if found {
		m.Claim = claim
	}
	if m.Pod != nil && m.Pod.Spec.NodeName != "" {
		n := &corev1.Node{}
		if found, err := t.Found(ctx, client.ObjectKey{Name: m.Pod.Spec.NodeName}, n); err != nil {
			return m, err
		} else if found {
			its := model.NodeOf(n)
			m.Node = &its
		}
	}
	var err error
	m.Disk, err = t.ReadDisk(ctx, t.Live, m.Pod, m.Claim)
	return m, err
}

// ours reports whether an object exists and is controlled by the cluster; another owner's object of the same name does
// not count. It returns an error if a user removed one of the labels by which the cache selects objects, because the
// cache then lacks the object.
func (t Taker) ours(ctx context.Context, c *etcdv1beta2.EtcdCluster, key client.ObjectKey, object client.Object) (bool, error) {
	found, err := t.Found(ctx, key, object)
	if err != nil || !found || !metav1.IsControlledBy(object, c) {
		return false, err
	}
	for _, l := range [][2]string{{common.OwnerLabel, string(c.UID)}, {common.ManagedByLabel, common.Name}} {
		if object.GetLabels()[l[0]] != l[1] {
			return false, fmt.Errorf("%s exists, but its label %s=%s, by which opcrew selects it, was removed; add the label again", key.Name, l[0], l[1])
		}
	}
	return true, nil
}

// Found reads an object from the API server and reports whether it exists.
func (t Taker) Found(ctx context.Context, key client.ObjectKey, object client.Object) (bool, error) {
	err := t.Live.Get(ctx, key, object)
	if client.IgnoreNotFound(err) != nil {
		return false, fmt.Errorf("read %T %s: %w", object, key, err)
	}
	return err == nil, nil
}
