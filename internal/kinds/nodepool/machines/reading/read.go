// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package reading

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
	"github.com/opcrew/opcrew/internal/kinds/nodepool/machines"
)

// target is what is read for a NodePool.
type target struct {
	ref    nodesv1.TemplateRef
	groups bool // whether the security groups of the template are read
}

// api reads from the API server. Only one goroutine uses it.
type api struct {
	live    client.Reader
	catalog Catalog
	clock   clock.PassiveClock
	lists   map[machines.Source]listing
}

// listing holds what the objects of machines show, and when they were read.
type listing struct {
	at      time.Time
	records []machines.Record
}

// read reads the template and the machines.
func (a *api) read(ctx context.Context, t target) *machines.View {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	source := machines.SourceOf(t.ref)
	groups, err := a.template(ctx, t, source)
	if err != nil {
		return a.failed(ctx, asked{"get", machines.KindOf(t.ref), t.ref.Name}, t.ref, err)
	}
	found, err := a.machines(ctx, source)
	if err != nil {
		return a.failed(ctx, asked{"list", source.GroupVersionKind, ""}, t.ref, err)
	}
	return machines.NewView(found.at, groups, found.records)
}

// template finds out whether a template exists. It reads only the metadata, unless the security groups of a NodeClass
// are needed.
func (a *api) template(ctx context.Context, t target, source machines.Source) ([]string, error) {
	key := client.ObjectKey{Namespace: t.ref.Namespace, Name: t.ref.Name}
	if !t.groups || !source.Karpenter() {
		object := &metav1.PartialObjectMetadata{}
		object.SetGroupVersionKind(machines.KindOf(t.ref))
		return nil, a.live.Get(ctx, key, object)
	}
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(machines.KindOf(t.ref))
	err := a.live.Get(ctx, key, object)
	return machines.ClassGroups(object), err
}

// machines lists the objects of machines, page by page, and keeps only what is compared.
func (a *api) machines(ctx context.Context, source machines.Source) (listing, error) {
	if known, found := a.lists[source]; found && a.clock.Since(known.at) < reuse {
		return known, nil
	}
	out := listing{at: a.clock.Now()}
	next := ""
	for range maxPages {
		page := &unstructured.UnstructuredList{}
		page.SetGroupVersionKind(source.GroupVersion().WithKind(source.Kind + "List"))
		if err := a.live.List(ctx, page, client.InNamespace(source.Namespace), client.Limit(pageSize), client.Continue(next)); err != nil {
			return listing{}, err
		}
		for i := range page.Items {
			out.records = append(out.records, machines.RecordOf(source, &page.Items[i]))
		}
		if next = page.GetContinue(); next == "" {
			a.lists[source] = out
			return out, nil
		}
	}
	return listing{}, errTooMany
}

// forgetLists frees lists that are too old to be used again.
func (a *api) forgetLists() {
	for source, known := range a.lists {
		if a.clock.Since(known.at) >= reuse {
			delete(a.lists, source)
		}
	}
}

// failed returns a view without records. Its message does not have the text of the error, which may quote an object.
func (a *api) failed(ctx context.Context, what asked, ref nodesv1.TemplateRef, err error) *machines.View {
	log.FromContext(ctx).Info("Failed to read what spec.machine.templateRef of a NodePool needs", "request", what.String(), "apiVersion", what.kind.GroupVersion().String(), "error", err.Error())
	if a.removed(ctx, what.kind, err) {
		err = errNotServed
	}
	return &machines.View{At: a.clock.Now(), Problem: problem(what, ref, err)}
}
