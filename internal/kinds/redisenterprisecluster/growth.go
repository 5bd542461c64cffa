// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redisenterprisecluster

import (
	"fmt"
	"time"

	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
)

// stays says which volume cannot have what is asked for, and how to have the spec ask for none; "" where all can.
func (s storage) stays() string {
	if why := s.Stuck(); why != "" {
		return why + "; with enablePersistentVolumeResize: false volumes stay as they are"
	}
	return ""
}

// again is when to look again by itself while volumes are to grow; 0 is never.
func (s storage) again() time.Duration {
	if growing, _ := s.Growing(); s.unwatched && growing != "" {
		return underWay
	}
	return s.Again(underWay)
}

// status is how far they are, in the vendor's words; nil where there are to be none.
func (s storage) status() *redisv1alpha1.PersistenceStatus {
	if len(s.Claims) == 0 {
		return nil
	}
	growing, have := s.Growing()
	is := redisv1alpha1.VolumesProvisioned
	switch {
	case s.stays() != "":
		is = redisv1alpha1.VolumesResizeFailed
	case growing != "":
		is = redisv1alpha1.VolumesResizing
	case len(s.Bound()) < len(s.Claims):
		is = redisv1alpha1.VolumesProvisioning
	}
	return &redisv1alpha1.PersistenceStatus{Status: is, Succeeded: fmt.Sprintf("%d/%d", have, len(s.Claims))}
}
