// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	opsv1 "github.com/opcrew/opcrew/api/ops/v1"
	"github.com/opcrew/opcrew/internal/workload"
)

const (
	// reportRecreated is how long a claim is reported that was deleted and recreated.
	reportRecreated = 24 * time.Hour
	// mostRecreated is how many are named.
	mostRecreated = 10
)

// status records which claims there have been. A claim that was deleted in between is recognised by its age, however
// long no one looked: it is younger than all were when all existed last. A claim with a data source is not empty, and
// is not reported.
func (in Input) status() *opsv1.StorageStatus {
	d, out := in.Diva, &opsv1.StorageStatus{}
	if d.Status.Storage != nil {
		out = d.Status.Storage.DeepCopy()
	}
	if recreated, last := in.recreatedSince(out); len(recreated) > 0 {
		out.Remade, out.RemadeAt = recreated, &last
	}
	if out.RemadeAt != nil && reportedFor(out, in.Now) == 0 {
		out.Remade, out.RemadeAt = nil, nil
	}
	out.Least = in.leastSizes()
	if newest, all := in.newest(); all && !newest.IsZero() {
		out.Clients = max(out.Clients, d.Spec.Client.Replicas)
		if out.Newest == nil || out.Newest.Before(&newest) { // claims of clients that were scaled away count, too
			out.Newest = &newest
		}
	}
	if equality.Semantic.DeepEqual(*out, opsv1.StorageStatus{}) {
		return nil
	}
	return out
}

// recreatedSince names claims that are younger than recorded, and returns when the last was created.
func (in Input) recreatedSince(recorded *opsv1.StorageStatus) (recreated []string, last metav1.Time) {
	if recorded.Newest == nil {
		return nil, last
	}
	for i, e := range ExpectedClaims(in.Diva) {
		claim := in.Claims[e.Name]
		if claim == nil || i >= unnumbered+int(recorded.Clients) || claim.Spec.DataSourceRef != nil || !recorded.Newest.Before(&claim.CreationTimestamp) {
			continue
		}
		if recreated = append(recreated, claim.Name); last.Before(&claim.CreationTimestamp) {
			last = claim.CreationTimestamp
		}
	}
	return recreated[:min(len(recreated), mostRecreated)], last
}

// newest is when the newest claim was created, and whether all exist and are bound. Claims that are deleted with an
// earlier Diva of the name do not count: that they are recreated is not a loss.
func (in Input) newest() (newest metav1.Time, all bool) {
	for _, e := range ExpectedClaims(in.Diva) {
		claim := in.Claims[e.Name]
		if claim == nil || !workload.HasVolume(claim) || claim.DeletionTimestamp != nil || ofEarlierDiva(in.Diva, claim) {
			return newest, false
		}
		if newest.Before(&claim.CreationTimestamp) {
			newest = claim.CreationTimestamp
		}
	}
	return newest, true
}

// reportedFor is how long recreated claims are still reported.
func reportedFor(s *opsv1.StorageStatus, now time.Time) time.Duration {
	if s == nil || s.RemadeAt == nil {
		return 0
	}
	return max(0, s.RemadeAt.Add(reportRecreated).Sub(now))
}

// Recreated says which claims were recreated; empty for none.
func Recreated(s *opsv1.StorageStatus) string {
	if s == nil || len(s.Remade) == 0 {
		return ""
	}
	return fmt.Sprintf("deleted and recreated, the last at %s: %s; their data is lost unless you have restored it",
		s.RemadeAt.UTC().Format(time.RFC3339), strings.Join(s.Remade, ", "))
}
