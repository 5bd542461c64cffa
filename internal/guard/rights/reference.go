// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package rights

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// reference is an object that a pod uses, with the verb for which the requester needs permission, such as get.
type reference struct {
	verb, group, resource string
	// kind is the kind of the object. It is empty if opcrew never creates such objects for the owner of a pod.
	kind string
	name string
	// in is the namespace of the object. If it is empty, the object is in the namespace of the pod, or cluster-scoped.
	in string
	// volume is the name of the volume that uses the object; empty if another part of the pod uses it.
	volume string
	// where describes the part of the pod that uses the object, for messages.
	where string
	// implied is true if no field of the spec names the object, because its name is derived from the owner's name.
	implied bool
}

// secret and the functions after it each return a reference to an object of one kind, with the verb for which a user
// needs permission.
func secret(name string) reference {
	return reference{verb: "get", resource: "secrets", kind: "Secret", name: name}
}

func configMap(name string) reference {
	return reference{verb: "get", resource: "configmaps", kind: "ConfigMap", name: name}
}

func claim(name string) reference {
	return reference{verb: "get", resource: "persistentvolumeclaims", kind: "PersistentVolumeClaim", name: name}
}

func account(name string) reference {
	return reference{verb: "impersonate", resource: "serviceaccounts", kind: "ServiceAccount", name: name}
}

func used(group, resource, name string) reference {
	return reference{verb: "use", group: group, resource: resource, name: name}
}

// at returns the reference with a description of the part of the pod that uses the object.
func (r reference) at(where string) reference {
	r.where = where
	return r
}

// way identifies how a pod uses an object. A pod that already uses an object in one way may keep that way. A Secret
// that only a container of opcrew mounts may therefore not be put into a user's environment variable.
type way struct {
	resource, in, name string
	volume             bool
}

func (r reference) way() way { return way{r.resource, r.in, r.name, r.volume != ""} }

// isClusterScoped reports whether the object has no namespace.
func (r reference) isClusterScoped() bool {
	return slices.Contains([]string{"priorityclasses", "runtimeclasses", "csidrivers"}, r.resource)
}

func (r reference) namespace(ofPod string) string {
	if r.isClusterScoped() {
		return ""
	}
	return cmp.Or(r.in, ofPod)
}

func (r reference) fullResource() string {
	return schema.GroupResource{Group: r.group, Resource: r.resource}.String()
}

// grant returns a sentence with the command by which an administrator grants the right.
func (r reference) grant(namespace, user string) string {
	role, scope := "role", " -n "+r.namespace(namespace)
	if r.isClusterScoped() {
		role, scope = "clusterrole", ""
	}
	return fmt.Sprintf("grant this right (kubectl create %s %s-%s%s --verb=%s --resource=%s --resource-name=%s, and bind the role to %s)",
		role, r.verb, r.name, scope, r.verb, r.fullResource(), r.name, user)
}

// object returns an empty object of the referenced kind, to read its metadata into.
func (r reference) object() *metav1.PartialObjectMetadata {
	out := &metav1.PartialObjectMetadata{}
	out.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind(r.kind))
	return out
}
