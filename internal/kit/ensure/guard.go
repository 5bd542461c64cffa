// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ensure

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/internal/guard"
)

// guards calls the guards of an Applier: checks that can refuse the pod of a child before the child is written.
type guards struct {
	all    []guard.Guard
	scheme *runtime.Scheme
}

// object calls the guards. If a guard refuses the pod of the child, it returns the result to report instead of a write;
// otherwise nil.
func (g guards) object(ctx context.Context, owner client.Object, in *intent, live client.Object) (*Result, error) {
	if len(g.all) == 0 {
		return nil, nil
	}
	pod, err := finished(g.scheme, in, live)
	if err != nil || pod.Template == nil && pod.Claim == nil {
		return nil, err
	}
	for _, one := range g.all {
		objection, err := one.Object(ctx, owner, pod)
		if err != nil {
			return nil, fmt.Errorf("check the pod of %s: %w", in.Ref, err)
		}
		if objection != nil {
			return &Result{Ref: in.Ref, Action: Denied, Reason: objection.Reason, Message: objection.Message, Again: objection.Again}, nil
		}
	}
	return nil, nil
}

// Objection asks the guards whether they would refuse the pod of a child. A caller can use this before a change that
// requires the creation of the child, such as the deletion of the pod that the child replaces. Objection returns the
// result that Ensure would report, or nil if no guard objects. live is the child in the cluster.
func (a *Applier) Objection(ctx context.Context, owner client.Object, child Child, live client.Object) (*Result, error) {
	in, err := declare(a.scheme(), owner, child)
	if err != nil {
		return nil, err
	}
	return guards{a.Guards, a.scheme()}.object(ctx, owner, in, live)
}

// finished returns the pod of a child as it would be after the write. If the child declares no pod, finished returns
// the pod of the live child.
func finished(scheme *runtime.Scheme, in *intent, live client.Object) (guard.Pod, error) {
	pod := guard.Pod{Kind: in.Kind, ObjectKey: in.ObjectKey, Security: in.child.Security, Trust: in.child.Trust}
	var err error
	if pod.Claim, err = newClaim(in, live); err != nil || pod.Claim != nil {
		return pod, err
	}
	if pod.Claims, err = newClaims(in, live); err != nil {
		return pod, err
	}
	if pod.Template, err = podOf(in.object); err != nil || live == nil {
		return pod, err
	}
	if pod.Live, err = podOfObject(scheme, live); err != nil {
		return pod, err
	}
	if pod.Template == nil {
		pod.Template = pod.Live
	}
	return pod, nil
}

// allowed returns the declaration that may be written over a live child, or the result to report instead. If the
// declaration keeps a pinned pod template of an earlier opcrew version and the guards refuse that template, allowed
// uses the currently declared template, which may have fewer rights.
func (g guards) allowed(ctx context.Context, owner client.Object, in *intent, live client.Object) (*intent, *Result, error) {
	denied, err := g.object(ctx, owner, in, live)
	if denied == nil || err != nil || !in.pinned() {
		return in, denied, err
	}
	declared, err := declare(g.scheme, owner, in.child)
	if err != nil {
		return in, nil, err
	}
	denied, err = g.object(ctx, owner, declared, live)
	return declared, denied, err
}

// newClaim returns the spec of the child if the child is a volume claim that does not exist yet; nil otherwise. An
// existing claim needs no check, because the source of its data cannot change.
func newClaim(in *intent, live client.Object) (*corev1.PersistentVolumeClaimSpec, error) {
	if in.Kind != "PersistentVolumeClaim" || live != nil {
		return nil, nil
	}
	claim := &corev1.PersistentVolumeClaim{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(in.object.Object, claim); err != nil {
		return nil, fmt.Errorf("read %s: %w", in.Ref, err)
	}
	return &claim.Spec, nil
}

// newClaims returns the names of the volume claims of new pods, if the child is a StatefulSet and the write raises its
// number of replicas.
func newClaims(in *intent, live client.Object) ([]string, error) {
	if in.Kind != "StatefulSet" {
		return nil, nil
	}
	set, first := &appsv1.StatefulSet{}, int32(0)
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(in.object.Object, set); err != nil {
		return nil, fmt.Errorf("read %s: %w", in.Ref, err)
	}
	if old, ok := live.(*appsv1.StatefulSet); ok {
		first = ptr.Deref(old.Spec.Replicas, 1)
	}
	var out []string
	for _, template := range set.Spec.VolumeClaimTemplates {
		for ordinal := first; ordinal < ptr.Deref(set.Spec.Replicas, 0); ordinal++ {
			out = append(out, fmt.Sprintf("%s-%s-%d", template.Name, in.Name, ordinal))
		}
	}
	return out, nil
}

// podOf returns the pod or pod template of a child; nil if it has none.
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

// orFailed returns the result to report after a check by the guards: a refusal, or the error of the check.
func orFailed(denied *Result, in *intent) Result {
	if denied != nil {
		return *denied
	}
	return Result{Ref: in.Ref}
}
