// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package diva

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	opsv1 "github.com/opcrew/opcrew/api/ops/v1"
	"github.com/opcrew/opcrew/internal/workload"
)

const (
	// remadeTold is how long a claim is informed of that was deleted and recreated.
	remadeTold = 24 * time.Hour
	// remadeNamed bounds how many are named.
	remadeNamed = 10
)

// terminating reports a claim that someone has deleted. It is there for as long as a pod
// uses it; what the pod is recreated with has none of its data.
func (f facts) terminating(_ expected, claim *corev1.PersistentVolumeClaim) string {
	if claim.DeletionTimestamp == nil {
		return ""
	}
	when, data := "nobody holds it any more", ""
	if pod := f.user(claim); pod != "" {
		when = "pod " + pod + " does"
	}
	if volume := claim.Spec.VolumeName; volume != "" {
		data = fmt.Sprintf(", with volume %s unless that is reclaimed by Retain", volume)
	}
	return fmt.Sprintf("claim %s is being deleted, which nobody can take back: it goes as soon as %s%s, and an empty one takes its place; copy the data that you need before", claim.Name, when, data)
}

// user is a pod that uses a claim, or nothing.
func (f facts) user(claim *corev1.PersistentVolumeClaim) string {
	if pod := f.clients.Pods[strings.TrimPrefix(claim.Name, claimTemplate+"-")]; pod != nil {
		return pod.Name
	}
	managers := f.boundManagers()
	if strings.HasPrefix(claim.Name, claimTemplate+"-") || len(managers) == 0 {
		return ""
	}
	return managers[0].Name
}

// storageStatus is pure: which claims there have been. That a claim was deleted in between is
// seen by its age, however long no one looked: it is younger than all were when last all were
// there. One that is made of other data is not empty, and is not told.
func (f facts) storageStatus(d *opsv1.Diva) *opsv1.StorageStatus {
	out := &opsv1.StorageStatus{}
	if d.Status.Storage != nil {
		out = d.Status.Storage.DeepCopy()
	}
	if names, last := f.remadeSince(d, out); len(names) > 0 {
		out.Remade, out.RemadeAt = names, &last
	}
	if out.RemadeAt != nil && remadeFor(out, f.now) == 0 {
		out.Remade, out.RemadeAt = nil, nil
	}
	out.Least = f.leastSizes(d)
	if newest, all := f.newest(d); all && !newest.IsZero() {
		out.Clients = max(out.Clients, d.Spec.Client.Replicas)
		if out.Newest == nil || out.Newest.Before(&newest) { // those of clients that were scaled away count, too
			out.Newest = &newest
		}
	}
	return orNone(out)
}

// orNone is nil for a status that says nothing.
func orNone(s *opsv1.StorageStatus) *opsv1.StorageStatus {
	if equality.Semantic.DeepEqual(*s, opsv1.StorageStatus{}) {
		return nil
	}
	return s
}

// remadeSince names claims that are younger than they were to be, and when the last was made.
func (f facts) remadeSince(d *opsv1.Diva, was *opsv1.StorageStatus) (names []string, last metav1.Time) {
	if was.Newest == nil {
		return nil, last
	}
	for i, e := range expectedClaims(d) {
		claim := f.claims[e.name]
		if claim == nil || i >= unnumbered+int(was.Clients) || claim.Spec.DataSourceRef != nil || !was.Newest.Before(&claim.CreationTimestamp) {
			continue
		}
		if names = append(names, claim.Name); last.Before(&claim.CreationTimestamp) {
			last = claim.CreationTimestamp
		}
	}
	return names[:min(len(names), remadeNamed)], last
}

// newest is when the newest claim was created, and whether all are there and bound. Those that
// go with an earlier Diva of the name are none of this one's: that they come back is no loss.
func (f facts) newest(d *opsv1.Diva) (newest metav1.Time, all bool) {
	for _, e := range expectedClaims(d) {
		claim := f.claims[e.name]
		if claim == nil || !workload.HasVolume(claim) || claim.DeletionTimestamp != nil || ofAnEarlier(d, claim) {
			return newest, false
		}
		if newest.Before(&claim.CreationTimestamp) {
			newest = claim.CreationTimestamp
		}
	}
	return newest, true
}

// remadeFor is how long claims that were recreated are informed of yet.
func remadeFor(s *opsv1.StorageStatus, now time.Time) time.Duration {
	if s == nil || s.RemadeAt == nil {
		return 0
	}
	return max(0, s.RemadeAt.Add(remadeTold).Sub(now))
}

// remade reports claims that were recreated, or is empty.
func remade(d *opsv1.Diva) string {
	s := d.Status.Storage
	if s == nil || len(s.Remade) == 0 {
		return ""
	}
	return fmt.Sprintf("deleted and made anew, the last at %s: %s; unless you have put it there again, their data is gone",
		s.RemadeAt.UTC().Format(time.RFC3339), strings.Join(s.Remade, ", "))
}
