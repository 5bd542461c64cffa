// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package reading

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
	"github.com/opcrew/opcrew/internal/kinds/nodepool/machines"
)

// asked is what was asked of the API server.
type asked struct {
	verb string
	kind schema.GroupVersionKind
	name string // empty for a list
}

func (a asked) String() string {
	if a.name == "" {
		return a.verb + " objects of kind " + a.kind.Kind
	}
	return a.verb + " " + a.kind.Kind + " " + a.name
}

// errNotServed is the error of a request for a kind that the API server no longer serves.
var errNotServed = errors.New("the API server does not serve the kind")

// problem explains an error.
func problem(what asked, ref nodesv1.TemplateRef, err error) *machines.Problem {
	missing := func(message string, blocks bool) *machines.Problem {
		return &machines.Problem{Reason: nodesv1.ReasonTemplateMissing, Message: message, Blocks: blocks}
	}
	unreadable := func(message string) *machines.Problem {
		return &machines.Problem{Reason: nodesv1.ReasonTemplateUnreadable, Message: message}
	}
	switch {
	case errors.Is(err, errNotServed) || meta.IsNoMatchError(err) || apierrors.IsNotFound(err) && what.name == "":
		return missing(fmt.Sprintf("The API server does not serve kind %s in %s; install its CRD, or correct spec.machine.templateRef", what.kind.Kind, what.kind.GroupVersion()), false)
	case apierrors.IsNotFound(err):
		return missing(fmt.Sprintf("%s %s does not exist%s; create it, or correct spec.machine.templateRef", ref.Kind, ref.Name, in(ref.Namespace)), true)
	case apierrors.IsForbidden(err):
		return unreadable("opcrew is not allowed to " + what.String() + in(ref.Namespace) + "; " + grant(ref))
	case errors.Is(err, errTooLarge):
		return unreadable(fmt.Sprintf("The answer to the request to %s has more than %d MiB, which opcrew does not read", what, maxBody>>20))
	case errors.Is(err, errTooMany):
		return unreadable(fmt.Sprintf("opcrew could not %s: %s", what, err))
	case apierrors.IsTimeout(err) || errors.Is(err, context.DeadlineExceeded):
		return unreadable(fmt.Sprintf("opcrew could not %s within %s; it tries again", what, patience))
	}
	return unreadable(fmt.Sprintf("opcrew could not %s; it tries again, and the log of the operator has the error", what))
}

func in(namespace string) string {
	if namespace == "" {
		return ""
	}
	return " in namespace " + namespace
}

// grant explains how an administrator lets opcrew read the objects. opcrew installs no binding of these roles.
func grant(ref nodesv1.TemplateRef) string {
	const account = " --serviceaccount opcrew-system:opcrew-machines"
	if ref.Namespace == "" {
		return "allow it with: kubectl create clusterrolebinding opcrew-karpenter --clusterrole opcrew-karpenter-machines" + account
	}
	return "allow it with: kubectl create rolebinding opcrew-cluster-api --namespace " + ref.Namespace + " --clusterrole opcrew-cluster-api-machines" + account
}
