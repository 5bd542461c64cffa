// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// optionals reports which optional types are installed in the cluster. The keys are the names of their CRDs.
func optionals(cfg *rest.Config, kinds []Registration) (map[string]bool, error) {
	reader, err := client.New(cfg, client.Options{})
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), crdInterval)
	defer cancel()
	installed := map[string]bool{}
	for _, kind := range kinds {
		for name, object := range kind.Optional {
			crd := &metav1.PartialObjectMetadata{}
			crd.SetGroupVersionKind(crdKind)
			err := reader.Get(ctx, client.ObjectKey{Name: name}, crd)
			if client.IgnoreNotFound(err) != nil {
				return nil, fmt.Errorf("read CRD %s: %w", name, err)
			}
			// A CRD that is being deleted counts as not installed, because an informer for it would never sync.
			installed[name] = err == nil && crd.DeletionTimestamp == nil && serves(reader, object)
		}
		if err := peers(ctx, reader, kind, installed); err != nil {
			return nil, err
		}
	}
	return installed, nil
}

// peers records whether the peers of a kind are installed. The CRDs of another product, such as OpenShift, do not count.
func peers(ctx context.Context, reader client.Reader, kind Registration, installed map[string]bool) error {
	for name := range kind.Peers {
		why, err := whyUnserved(ctx, reader, kind.peersLike(name))
		if err != nil {
			return err
		}
		installed[name] = why == ""
	}
	return nil
}

// peersLike returns the CRDs of the kind's peers in the API group of one of them, as if they were those of a kind.
func (r Registration) peersLike(name string) Registration {
	_, group, _ := strings.Cut(name, ".")
	out := Registration{}
	for _, peer := range slices.Sorted(maps.Keys(r.Peers)) {
		if strings.HasSuffix(peer, "."+group) {
			out.CRDs = append(out.CRDs, peer)
		}
	}
	return out
}

// serves reports whether the API server serves the version of a type that opcrew uses. The CRD of an old installation
// may serve only other versions, and an informer would then never sync.
func serves(c client.Client, object client.Object) bool {
	gvk, err := c.GroupVersionKindFor(object)
	if err != nil {
		return false
	}
	_, err = c.RESTMapper().RESTMapping(gvk.GroupKind(), gvk.Version)
	return err == nil
}

// awaitedCRD is a CRD that is not installed. usable reports whether opcrew can use what it defines, once it exists.
type awaitedCRD struct {
	name   string
	usable func(ctx context.Context) bool
}

// lacking returns the CRDs of optional types and of peers that are not installed.
func lacking(reader client.Reader, kinds []Registration, installed map[string]bool) []awaitedCRD {
	var out []awaitedCRD
	for _, kind := range kinds {
		for name := range kind.Optional {
			if !installed[name] {
				out = append(out, awaitedCRD{name, func(context.Context) bool { return true }})
			}
		}
		for name := range kind.Peers {
			if !installed[name] {
				out = append(out, awaitedCRD{name, areOurs(reader, kind.peersLike(name))})
			}
		}
	}
	return out
}

// areOurs returns a function that reports whether all CRDs of a kind are installed, and are those of opcrew.
func areOurs(reader client.Reader, kind Registration) func(context.Context) bool {
	return func(ctx context.Context) bool {
		why, err := whyUnserved(ctx, reader, kind)
		return err == nil && why == ""
	}
}

// optIns returns the CRDs of the kinds that the process serves as soon as all CRDs of the kind are installed.
func optIns(reader client.Reader, missing []unserved) []awaitedCRD {
	var out []awaitedCRD
	for _, kind := range missing {
		if !kind.OptIn {
			continue
		}
		for _, name := range kind.CRDs {
			out = append(out, awaitedCRD{name, areOurs(reader, kind.Registration)})
		}
	}
	return out
}

// without returns the kinds without the optional types and the peers that are not installed.
func without(kinds []Registration, installed map[string]bool) []Registration {
	out, missing := slices.Clone(kinds), func(name string, _ client.Object) bool { return !installed[name] }
	for i := range out {
		out[i].Optional, out[i].Peers = maps.Clone(out[i].Optional), maps.Clone(out[i].Peers)
		maps.DeleteFunc(out[i].Optional, missing)
		maps.DeleteFunc(out[i].Peers, missing)
	}
	return out
}

// optionalWatch ends the manager when a missing optional type or kind is installed. The process then restarts and uses
// it. optionalWatch watches CRDs and does not poll, because polling would cost API calls.
type optionalWatch struct {
	cfg     *rest.Config
	missing []awaitedCRD
	clock   clock.WithTicker
}

// Start implements manager.Runnable.
func (w *optionalWatch) Start(ctx context.Context) error {
	if len(w.missing) == 0 {
		return nil
	}
	c, err := client.NewWithWatch(w.cfg, client.Options{})
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	installed := make(chan struct{}, len(w.missing))
	for _, crd := range w.missing {
		go w.await(ctx, c, crd, installed)
	}
	select {
	case <-ctx.Done():
		return nil
	case <-installed:
		return ErrRestart
	}
}

// NeedLeaderElection implements manager.LeaderElectionRunnable. It returns false, so that standby processes restart
// too.
func (w *optionalWatch) NeedLeaderElection() bool { return false }

// await waits until the CRD is installed and usable, and then sends a signal to the given channel.
func (w *optionalWatch) await(ctx context.Context, c client.WithWatch, crd awaitedCRD, installed chan<- struct{}) {
	for ctx.Err() == nil {
		if w.appears(ctx, c, crd) {
			installed <- struct{}{}
			return
		}
		select {
		case <-ctx.Done():
		case <-w.clock.After(crdInterval): // the API server ends each watch after some time
		}
	}
}

func (w *optionalWatch) appears(ctx context.Context, c client.WithWatch, awaited awaitedCRD) bool {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(crdKind.GroupVersion().WithKind(crdKind.Kind + "List"))
	events, err := c.Watch(ctx, list, client.MatchingFields{"metadata.name": awaited.name})
	if err != nil {
		return false
	}
	defer events.Stop()
	for event := range events.ResultChan() {
		crd, ok := event.Object.(*metav1.PartialObjectMetadata)
		if ok && crd.DeletionTimestamp == nil && (event.Type == watch.Added || event.Type == watch.Modified) && awaited.usable(ctx) {
			return true
		}
	}
	return false
}
