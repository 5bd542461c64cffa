// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ensure

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Guard decides whether a finished pod may be written: with all that users, opcrew and pinning put into it.
type Guard interface {
	// Object returns why the pod may not be written; nil if it may. It is called only before a write.
	Object(ctx context.Context, owner client.Object, pod Pod) (*Objection, error)
}

// Pod is the finished pod of a child: the child itself, or the template of a Deployment or StatefulSet.
type Pod struct {
	// Child is the declaration that it belongs to, and Ref its name.
	Child Child
	Ref   Ref
	// Template is the pod as it would be written, without the API server's defaults. Live is that of the
	// child in the cluster; nil if there is none.
	Template, Live *corev1.PodTemplateSpec
}

// Objection is why a pod is not written: a reason for conditions, and a message that names the field and what to
// write instead.
type Objection struct {
	Reason, Message string
	// Again is when to ask again; 0: when an event comes.
	Again time.Duration
}

// guard asks the guards. It returns what is reported instead of a write; nil if there is no objection.
func (a *Applier) guard(ctx context.Context, owner client.Object, in *intent, live client.Object) (*Result, error) {
	template, err := podOf(in.object)
	if err != nil || template == nil || len(a.Guards) == 0 {
		return nil, err
	}
	pod := Pod{Child: in.child, Ref: in.Ref, Template: template}
	if live != nil {
		if pod.Live, err = podOfObject(a.scheme(), live); err != nil {
			return nil, err
		}
	}
	for _, guard := range a.Guards {
		objection, err := guard.Object(ctx, owner, pod)
		if err != nil {
			return nil, fmt.Errorf("check the pod of %s: %w", in.Ref, err)
		}
		if objection != nil {
			return &Result{Ref: in.Ref, Action: Denied, Reason: objection.Reason, Message: objection.Message, Again: objection.Again}, nil
		}
	}
	return nil, nil
}

// podOf extracts the pod of a child; nil if it has none.
func podOf(child *unstructured.Unstructured) (*corev1.PodTemplateSpec, error) {
	content := child.Object
	if child.GetKind() != "Pod" {
		template, found, err := unstructured.NestedMap(content, "spec", "template")
		if err != nil || !found {
			return nil, err
		}
		content = template
	}
	pod := &corev1.PodTemplateSpec{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(map[string]any{"metadata": content["metadata"], "spec": content["spec"]}, pod); err != nil {
		return nil, fmt.Errorf("read the pod of %s %s: %w", child.GetKind(), child.GetName(), err)
	}
	return pod, nil
}

func podOfObject(scheme *runtime.Scheme, object client.Object) (*corev1.PodTemplateSpec, error) {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		return nil, err
	}
	gvks, _, err := scheme.ObjectKinds(object)
	if err != nil {
		return nil, err
	}
	child := &unstructured.Unstructured{Object: content}
	child.SetGroupVersionKind(gvks[0])
	return podOf(child)
}

// orFailed is the result of a check: a denial, or a failure to check.
func orFailed(denied *Result, in *intent) Result {
	if denied != nil {
		return *denied
	}
	return Result{Ref: in.Ref}
}
