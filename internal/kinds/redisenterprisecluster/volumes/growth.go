// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package volumes

import (
	"fmt"
	"time"

	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
)

// Stuck returns which volume cannot get its requested size and what the user can do; "" if no volume is stuck.
func (s Storage) Stuck() string {
	if why := s.Volumes.Stuck(); why != "" {
		return why + "; to keep the volumes at their current size, set enablePersistentVolumeResize: false"
	}
	return ""
}

// Recheck returns the time until opcrew must check again whether volumes have grown, because no event would report it;
// 0 means that it need not.
func (s Storage) Recheck(soon time.Duration) time.Duration {
	if growing, _ := s.Growing(); s.unwatched && growing != "" {
		return soon
	}
	return s.Again(soon)
}

// Status returns how many volumes have the requested size, in the vendor's terms; nil if the cluster has no claims.
func (s Storage) Status() *redisv1alpha1.PersistenceStatus {
	if len(s.Claims) == 0 {
		return nil
	}
	growing, have := s.Growing()
	is := redisv1alpha1.VolumesProvisioned
	switch {
	case s.Stuck() != "":
		is = redisv1alpha1.VolumesResizeFailed
	case growing != "":
		is = redisv1alpha1.VolumesResizing
	case len(s.Bound()) < len(s.Claims):
		is = redisv1alpha1.VolumesProvisioning
	}
	return &redisv1alpha1.PersistenceStatus{Status: is, Succeeded: fmt.Sprintf("%d/%d", have, len(s.Claims))}
}
