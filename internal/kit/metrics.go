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

// Metrics are those that every kind has. A kind's own stand in its package.
type Metrics struct {
	condition *prometheus.GaugeVec
	writes    *prometheus.CounterVec
	leftOut   prometheus.Counter
}

// NewMetrics registers the shared metrics.
func NewMetrics(registry prometheus.Registerer) (*Metrics, error) {
	m := &Metrics{
		condition: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "opcrew_condition",
			Help: "Conditions of the objects: 1 for True, 0 for False, -1 for Unknown.",
		}, []string{"kind", "namespace", "name", "type"}),
		writes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "opcrew_writes_total",
			Help: "Children and foreign objects written, by their kind and what was done. Repaired counts drift.",
		}, []string{"kind", "action"}),
		leftOut: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "opcrew_events_left_out_total",
			Help: "Events that were not written because there were very many of their reason and namespace at once.",
		}),
	}
	for _, c := range []prometheus.Collector{m.condition, m.writes, m.leftOut} {
		if err := registry.Register(c); err != nil {
			return nil, err
		}
	}
	return m, nil
}

func (m *Metrics) observe(gvk schema.GroupVersionKind, object client.Object) {
	c, ok := object.(Conditioned)
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

func (m *Metrics) forget(gvk schema.GroupVersionKind, key client.ObjectKey) {
	m.condition.DeletePartialMatch(prometheus.Labels{"kind": gvk.Kind, "namespace": key.Namespace, "name": key.Name})
}

func (m *Metrics) wrote(kind, action string) {
	m.writes.WithLabelValues(kind, action).Inc()
}

// count sorts the result of one child into the metrics and the outcome.
func (l *Loop[O, F]) count(result ensure.Result, done *Outcome) {
	switch result.Action {
	case ensure.Created, ensure.Applied, ensure.Repaired, ensure.Replaced, ensure.Pruned, ensure.Contested:
		l.Metrics.wrote(result.Ref.Kind, string(result.Action))
	case ensure.Held:
		done.Held++
	}
}
