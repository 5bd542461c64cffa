// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package rights

import (
	"cmp"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// reference is something outside a pod that the pod uses.
type reference struct {
	verb, group, resource string
	// kind is that of the object; empty if the objects of an owner are never of it.
	kind string
	name string
	// in is the namespace of the object; empty: the namespace of the pod, or none.
	in string
	// volume is the name of the volume that uses it; empty: it is used in another way.
	volume string
	// where is the part of the pod that uses it, for messages.
	where string
	// implied is true if no field names the object: its name follows from the name of the owner.
	implied bool
}

// The ways to use each kind of object.
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

// at adds where it is used.
func (r reference) at(where string) reference {
	r.where = where
	return r
}

// way is what a reference has in common with an earlier one that allows it: the values of a Secret in a volume of
// opcrew's own container do not allow them in the environment of a user's.
type way struct {
	resource, in, name string
	volume             bool
}

func (r reference) way() way { return way{r.resource, r.in, r.name, r.volume != ""} }

// isClusterScoped reports whether the object is in no namespace.
func (r reference) isClusterScoped() bool {
	return r.resource == "priorityclasses" || r.resource == "runtimeclasses"
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

// grant says how an administrator grants the right.
func (r reference) grant(namespace, user string) string {
	role, scope := "role", " -n "+r.namespace(namespace)
	if r.isClusterScoped() {
		role, scope = "clusterrole", ""
	}
	return fmt.Sprintf("grant it (kubectl create %s %s-%s%s --verb=%s --resource=%s --resource-name=%s, and bind that to %s)",
		role, r.verb, r.name, scope, r.verb, r.fullResource(), r.name, user)
}

// object is an empty object to read the owner of.
func (r reference) object() *metav1.PartialObjectMetadata {
	out := &metav1.PartialObjectMetadata{}
	out.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind(r.kind))
	return out
}
