// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/internal/kit/ensure"
)

// sharedMetrics holds the metrics that all kinds share. Metrics of a single kind are in the package of that kind.
type sharedMetrics struct {
	condition *prometheus.GaugeVec
	writes    *prometheus.CounterVec
	leftOut   prometheus.Counter
}

// newMetrics creates and registers the shared metrics.
func newMetrics(registry prometheus.Registerer) (*sharedMetrics, error) {
	m := &sharedMetrics{
		condition: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "opcrew_condition",
			Help: "Status of each condition of each object: 1 for True, 0 for False, -1 for Unknown.",
		}, []string{"kind", "namespace", "name", "type"}),
		writes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "opcrew_writes_total",
			Help: "Number of writes to child objects and to objects of other owners, by kind and action. The action Repaired counts repairs of drift.",
		}, []string{"kind", "action"}),
		leftOut: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "opcrew_events_left_out_total",
			Help: "Number of events that opcrew did not write because too many events had the same reason and namespace.",
		}),
	}
	for _, c := range []prometheus.Collector{m.condition, m.writes, m.leftOut} {
		if err := registry.Register(c); err != nil {
			return nil, err
		}
	}
	return m, nil
}

func (m *sharedMetrics) observe(gvk schema.GroupVersionKind, object client.Object) {
	c, ok := object.(hasConditions)
	if !ok {
		return
	}
	for _, condition := range *c.StatusConditions() {
		m.condition.WithLabelValues(gvk.Kind, object.GetNamespace(), object.GetName(), condition.Type).
			Set(value(condition.Status))
	}
}

func value(status metav1.ConditionStatus) float64 {
	switch status {
	case metav1.ConditionTrue:
		return 1
	case metav1.ConditionFalse:
		return 0
	}
	return -1
}

func (m *sharedMetrics) forget(gvk schema.GroupVersionKind, key client.ObjectKey) {
	m.condition.DeletePartialMatch(prometheus.Labels{"kind": gvk.Kind, "namespace": key.Namespace, "name": key.Name})
}

func (m *sharedMetrics) wrote(kind, action string) {
	m.writes.WithLabelValues(kind, action).Inc()
}

// count adds the write of a child to the metrics.
func (m *sharedMetrics) count(result ensure.Result) {
	switch result.Action {
	case ensure.Created, ensure.Applied, ensure.Repaired, ensure.Replaced, ensure.Pruned, ensure.Contested:
		m.wrote(result.Ref.Kind, string(result.Action))
	}
}
