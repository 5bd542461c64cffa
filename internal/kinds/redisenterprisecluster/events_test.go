// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redisenterprisecluster

import (
	"errors"
	"testing"

	clientevents "k8s.io/client-go/tools/events"

	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/stores/redis"
)

func TestLibrariesThatAPrimaryRefusedAreReportedOnce(t *testing.T) {
	s, recorder := running(3), clientevents.NewFakeRecorder(9)
	r := &reconciler{Tools: &kit.Tools{Events: recorder}}
	for _, move := range []*redis.Progress{nil, {}, {Unequipped: errors.New("b:1: ERR")}, {Unequipped: errors.New("b:1: ERR"), Ended: true}} {
		s.view.Move = move
		r.after(s.Cluster, s.facts, decision{}, kit.Outcome{})
	}
	if got := len(recorder.Events); got != 1 {
		t.Fatalf("expected one event, got %d", got)
	}
	if got, want := <-recorder.Events, "Warning LibrariesRefused b:1: ERR; load the libraries on that server with FUNCTION LOAD"; got != want {
		t.Errorf("expected %q, got %q", want, got)
	}
}
