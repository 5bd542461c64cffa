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
	// reportRecreated is how long a recreated claim is reported.
	reportRecreated = 24 * time.Hour
	// mostRecreated is the maximum number of recreated claims that the status lists.
	mostRecreated = 10
)

// status returns the new storage status. Once all claims exist, it records the creation time of the newest one. A claim
// that was created after the recorded time has been recreated, even if opcrew was not running then. status does not
// report a claim with a data source, because such a claim is not empty.
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
		if out.Newest == nil || out.Newest.Before(&newest) { // includes the claims of client pods that were removed by scaling down
			out.Newest = &newest
		}
	}
	if equality.Semantic.DeepEqual(*out, opsv1.StorageStatus{}) {
		return nil
	}
	return out
}

// recreatedSince returns the names of claims that are younger than the recorded time, and the latest of their creation
// times.
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

// newest returns the creation time of the newest claim, and whether all claims exist and are bound. A claim that will
// be deleted with an earlier Diva of the same name does not count, because its recreation loses no data of this Diva.
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

// reportedFor returns how much longer recreated claims are reported.
func reportedFor(s *opsv1.StorageStatus, now time.Time) time.Duration {
	if s == nil || s.RemadeAt == nil {
		return 0
	}
	return max(0, s.RemadeAt.Add(reportRecreated).Sub(now))
}

// Recreated returns the end of a sentence about claims that were deleted and recreated; "" if there are none.
func Recreated(s *opsv1.StorageStatus) string {
	if s == nil || len(s.Remade) == 0 {
		return ""
	}
	return fmt.Sprintf("were deleted and recreated, most recently at %s: %s; the data of these claims is lost unless you have restored it",
		s.RemadeAt.UTC().Format(time.RFC3339), strings.Join(s.Remade, ", "))
}
