// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ring_test

import (
	"testing"
	"time"
)

func TestThreePodsBecomeACluster(t *testing.T) {
	o := operate(t, 3)
	o.settled(20 * time.Second)
}

func TestAClusterIsScaledOutAndInUnderWritesAndNobodyNotices(t *testing.T) {
	o := operate(t, 3)
	o.settled(20 * time.Second)
	w := o.write()
	o.scale(5)
	o.settled(90 * time.Second)
	o.scale(3)
	o.settled(90 * time.Second)
	o.shrink()
	o.settled(10 * time.Second)
	w.spotless()
}
