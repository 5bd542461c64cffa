// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
	"github.com/opcrew/opcrew/internal/stores/etcd"
)

// sizes exports the size of each member's data as metrics. It takes the sizes from the last view of the members when
// metrics are collected, so a deleted cluster leaves no metrics behind.
type sizes struct {
	prober *etcd.Prober
	// took is the size of the data on disk, and used is the size of the part that is in use. quota is the size limit.
	took, used, quota *prometheus.Desc
}

// newSizes registers the metrics about the size of members' data.
func newSizes(registry prometheus.Registerer, prober *etcd.Prober) error {
	describe := func(name, help string) *prometheus.Desc {
		return prometheus.NewDesc(name, help, []string{"namespace", "name", "member"}, nil)
	}
	s := &sizes{
		prober: prober,
		took:   describe("opcrew_etcd_db_size_bytes", "Size of a member's data, in bytes, including free space."),
		used:   describe("opcrew_etcd_db_in_use_bytes", "Size of a member's data in use, in bytes, excluding free space."),
		quota:  describe("opcrew_etcd_db_quota_bytes", "Maximum size of a member's data, in bytes (etcd 3.6 or later)."),
	}
	if err := registry.Register(s); err != nil {
		return fmt.Errorf("register metrics: %w", err)
	}
	return nil
}

// Describe sends the descriptions of the metrics.
func (s *sizes) Describe(out chan<- *prometheus.Desc) {
	out <- s.took
	out <- s.used
	out <- s.quota
}

// Collect sends the current values of the metrics.
func (s *sizes) Collect(out chan<- prometheus.Metric) {
	for key, view := range s.prober.Views() {
		for _, m := range view.Members {
			status := view.Status[m.ID]
			if status.ID == 0 || len(m.PeerURLs) == 0 {
				continue
			}
			say := func(what *prometheus.Desc, value int64) {
				out <- prometheus.MustNewConstMetric(what, prometheus.GaugeValue, float64(value), key.Namespace, key.Name, model.NameInURL(m.PeerURLs[0]))
			}
			say(s.took, status.DBSize)
			say(s.used, status.DBInUse)
			if status.Quota > 0 {
				say(s.quota, status.Quota)
			}
		}
	}
}
