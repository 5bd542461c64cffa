// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package trim removes from objects what the cache of the operator need not hold.
package trim

import (
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/cache"

	"github.com/opcrew/opcrew/api/common"
)

// Object is the transform function of the cache. It removes managed fields, and those large parts of Pods, ReplicaSets
// and Nodes that no kind reads. If a kind needs another field, change Object to keep this field.
func Object(object any) (any, error) {
	switch o := object.(type) {
	case *corev1.Pod:
		trimPod(o)
	case *appsv1.ReplicaSet:
		trimReplicaSet(o)
	case *corev1.Node:
		trimNode(o)
	default:
		return stripManagedFields(object)
	}
	return object, nil
}

var stripManagedFields = cache.TransformStripManagedFields()

// trimPod keeps a pod's node and deadline, the images and resources of its containers, and its status.
func trimPod(pod *corev1.Pod) {
	pod.ManagedFields = nil
	pod.Annotations = trimAnnotations(pod.Annotations)
	full := pod.Spec
	pod.Spec = corev1.PodSpec{NodeName: full.NodeName, ActiveDeadlineSeconds: full.ActiveDeadlineSeconds}
	for _, c := range full.Containers {
		pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{Name: c.Name, Image: c.Image, Resources: c.Resources})
	}
}

// trimReplicaSet keeps the revision number, images, ports, volumes and status. Trimming matters because a Deployment
// has up to ten ReplicaSets.
func trimReplicaSet(set *appsv1.ReplicaSet) {
	set.ManagedFields = nil
	set.Annotations = trimAnnotations(set.Annotations)
	full := set.Spec.Template
	set.Spec.Template = corev1.PodTemplateSpec{Spec: corev1.PodSpec{Volumes: full.Spec.Volumes}}
	set.Spec.Template.Annotations = trimAnnotations(full.Annotations)
	for _, c := range full.Spec.Containers {
		set.Spec.Template.Spec.Containers = append(set.Spec.Template.Spec.Containers, corev1.Container{Name: c.Name, Image: c.Image, Ports: c.Ports})
	}
}

const (
	// longAnnotation is the maximum number of bytes of a value that the cache keeps. Only programs in pods read longer
	// values, such as the command of an Activity.
	longAnnotation = 4 << 10
	// allAnnotations is the maximum number of bytes of all kept values of one object. Users can add annotations in the
	// domain opcrew.io too, so only a limit of the sum bounds the memory.
	allAnnotations = 16 << 10
)

// trimAnnotations keeps only the annotations that kinds read. Users can set other annotations of up to 256 KiB on each
// pod of a set, which would fill the operator's memory.
func trimAnnotations(all map[string]string) map[string]string {
	kept, size := map[string]string{}, 0
	for key, value := range all {
		if readAnnotation(key) && len(value) <= longAnnotation {
			kept[key] = value
			size += len(value)
		}
	}
	if size > allAnnotations || len(kept) == 0 {
		return nil
	}
	return kept
}

// readAnnotation reports whether a kind reads an annotation of pods or ReplicaSets. The key etcd.version comes from the
// etcd operator of CoreOS, which opcrew replaces.
func readAnnotation(key string) bool {
	domain, _, _ := strings.Cut(key, "/")
	return domain == "opcrew.io" || strings.HasSuffix(domain, ".opcrew.io") || key == "etcd.version" || key == "deployment.kubernetes.io/revision"
}

// trimNode removes the images, the volumes, and the managed fields of other managers.
func trimNode(node *corev1.Node) {
	var ours []metav1.ManagedFieldsEntry
	for _, entry := range node.ManagedFields {
		if entry.Manager == common.Name && entry.Subresource == "" {
			ours = append(ours, entry)
		}
	}
	node.ManagedFields = ours
	node.Status.Images = nil
	node.Status.VolumesAttached = nil
	node.Status.VolumesInUse = nil
}
