// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdbackup

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kit"
)

// gauges holds the metrics of all EtcdBackups. An alert on the age of the last success is more useful than an alert on
// a failure, as failures may be retried.
type gauges struct{ saved, verified, size, revision *prometheus.GaugeVec }

func newGauges(registry prometheus.Registerer) (*gauges, error) {
	labels := []string{"namespace", "name"}
	gauge := func(name, help string) *prometheus.GaugeVec {
		return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "opcrew_etcdbackup_" + name, Help: help}, labels)
	}
	g := &gauges{
		saved:    gauge("last_success_timestamp_seconds", "Unix time in seconds at which the last successful backup was completed."),
		verified: gauge("last_restorable_timestamp_seconds", "Unix time in seconds at which a backup was last verified as restorable."),
		size:     gauge("last_size_bytes", "Size of the last successful backup, in bytes."),
		revision: gauge("last_revision", "etcd revision of the last successful backup."),
	}
	for _, c := range g.all() {
		if err := registry.Register(c); err != nil {
			return nil, fmt.Errorf("register metrics: %w", err)
		}
	}
	return g, nil
}

func (g *gauges) all() []*prometheus.GaugeVec {
	return []*prometheus.GaugeVec{g.saved, g.verified, g.size, g.revision}
}

func (g *gauges) set(b *etcdv1beta2.EtcdBackup, _ facts, _ verdict, _ kit.Outcome) {
	at := func(gauge *prometheus.GaugeVec, time *metav1.Time) {
		if time != nil {
			gauge.WithLabelValues(b.Namespace, b.Name).Set(float64(time.Unix()))
		}
	}
	at(g.saved, b.Status.LastSuccessDate)
	if last := b.Status.Last; last != nil {
		g.size.WithLabelValues(b.Namespace, b.Name).Set(float64(last.Size))
		g.revision.WithLabelValues(b.Namespace, b.Name).Set(float64(last.Revision))
	}
	if b.Status.Verified == nil {
		g.verified.DeleteLabelValues(b.Namespace, b.Name)
		return
	}
	at(g.verified, b.Status.Verified.Time)
}

func (g *gauges) forget(key client.ObjectKey) {
	for _, gauge := range g.all() {
		gauge.DeleteLabelValues(key.Namespace, key.Name)
	}
}
