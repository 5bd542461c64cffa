// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package rewatch

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/utils/clock"
)

func TestAnOutageIsReportedOnceAndTheWaitsGrowToALimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
		defer cancel()
		tries, outages := 0, 0
		Run(ctx, clock.RealClock{}, func(context.Context) (bool, error) {
			tries++
			return tries == 20, errors.New("no answer") // the 20th watch reads something, and ends
		}, func(error) { outages++ })
		if outages != 2 {
			t.Errorf("expected one report for each of two outages, got %d", outages)
		}
		if tries < 20 || tries > 60 {
			t.Errorf("expected a try about every 30 seconds after the first ones, got %d in ten minutes", tries)
		}
	})
}
