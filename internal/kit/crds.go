// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// crdInterval is the time between two reads of the CRD of a kind that opcrew does not serve yet. Once opcrew serves all
// kinds, these reads end.
const crdInterval = 30 * time.Second

// partOfLabel is the label by which opcrew recognizes the CRDs that it installed.
const partOfLabel = "app.kubernetes.io/part-of"

// ErrRestart is returned by the manager when another kind can be served. The process ends, and restarts with that kind.
var ErrRestart = errors.New("a CRD that was missing is now installed; opcrew restarts to serve its kind")

var crdKind = schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"}

// unserved is a kind that the process does not serve, with the reason.
type unserved struct {
	Registration
	why string
}

// reasons maps the names of kinds to the reasons why the process does not serve them.
func reasons(missing []unserved) map[string]string {
	out := map[string]string{}
	for _, kind := range missing {
		out[kind.Name] = kind.why
	}
	return out
}

// withoutOptIns returns the kinds whose CRDs are part of the installation.
func withoutOptIns(missing []unserved) []unserved {
	return slices.DeleteFunc(slices.Clone(missing), func(kind unserved) bool { return kind.OptIn })
}

// sortKinds separates the kinds that the process can serve from the others. The process does not serve a kind whose CRD
// another product installed, because opcrew and that product would undo each other's changes.
func sortKinds(cfg *rest.Config, kinds []Registration) (served []Registration, missing []unserved, err error) {
	reader, err := client.New(cfg, client.Options{})
	if err != nil {
		return nil, nil, fmt.Errorf("connect: %w", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), crdInterval)
	defer cancel()
	for _, kind := range kinds {
		why, err := whyUnserved(ctx, reader, kind)
		switch {
		case err != nil:
			return nil, nil, err
		case why == "":
			served = append(served, kind)
		default:
			missing = append(missing, unserved{kind, why})
		}
	}
	return served, missing, nil
}

func whyUnserved(ctx context.Context, reader client.Reader, kind Registration) (string, error) {
	var why []string
	for _, name := range kind.CRDs {
		crd := &metav1.PartialObjectMetadata{}
		crd.SetGroupVersionKind(crdKind)
		err := reader.Get(ctx, client.ObjectKey{Name: name}, crd)
		switch {
		case apierrors.IsNotFound(err):
			why = append(why, fmt.Sprintf("CRD %s is not installed", name))
		case err != nil:
			return "", fmt.Errorf("read CRD %s: %w", name, err)
		case crd.Labels[partOfLabel] != "opcrew":
			why = append(why, fmt.Sprintf("CRD %s was installed by another product (label %s is %q, want opcrew)",
				name, partOfLabel, crd.Labels[partOfLabel]))
		}
	}
	return strings.Join(why, "; "), nil
}

func reportServed(registry metrics.RegistererGatherer, served []Registration, missing []unserved) error {
	gauge := prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "opcrew_kind_served",
		Help: "1 for a kind that the process serves, 0 for a kind whose CRD is missing or was installed by another product.",
	}, []string{"kind"})
	if err := registry.Register(gauge); err != nil {
		return fmt.Errorf("register metrics: %w", err)
	}
	for _, kind := range served {
		gauge.WithLabelValues(kind.Name).Set(1)
	}
	for _, kind := range missing {
		gauge.WithLabelValues(kind.Name).Set(0)
	}
	return nil
}

// crdWatch ends the manager when the CRD of a kind that is not served yet is installed. The process then restarts,
// because a running manager cannot add kinds.
type crdWatch struct {
	reader  client.Reader
	missing []unserved
	clock   clock.WithTicker
}

// Start implements manager.Runnable.
func (w *crdWatch) Start(ctx context.Context) error {
	if len(w.missing) == 0 {
		return nil
	}
	for _, kind := range w.missing {
		log.FromContext(ctx).Error(nil, "opcrew does not serve this kind, and checks its CRD every 30 s", "kind", kind.Name, "why", kind.why)
	}
	ticker := w.clock.NewTicker(crdInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C():
		}
		for _, kind := range w.missing {
			if why, err := whyUnserved(ctx, w.reader, kind.Registration); err == nil && why == "" {
				return ErrRestart
			}
		}
	}
}

// NeedLeaderElection implements manager.LeaderElectionRunnable. It returns false, so that standby processes also log
// missing kinds.
func (w *crdWatch) NeedLeaderElection() bool { return false }
