// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"errors"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// An error that the reconcile returns makes the work queue back off, and overrides the wait that the plan requested.
// The failure of a patch on which nothing else depends must not do that.
func TestOnlyAFailureThatDelaysSomethingBacksOff(t *testing.T) {
	refused, lost := errors.New("exceeded quota"), errors.New("no route to host")
	for name, test := range map[string]struct {
		do       func(*Outcome)
		err      error
		reported error
	}{
		"nothing fails":                    {func(*Outcome) {}, nil, nil},
		"an independent patch":             {func(o *Outcome) { o.failIndependent(refused) }, nil, refused},
		"a step":                           {func(o *Outcome) { o.fail(lost) }, lost, lost},
		"a step and an independent patch":  {func(o *Outcome) { o.fail(lost); o.failIndependent(refused) }, lost, lost},
		"an independent patch, and status": {func(o *Outcome) { o.failIndependent(refused); o.fail(lost) }, lost, lost},
	} {
		done := Outcome{}
		test.do(&done)
		if !errors.Is(done.Err, test.reported) {
			t.Errorf("%s: expected error %v to be reported, got %v", name, test.reported, done.Err)
		}
		result, err := (&Loop[client.Object, int, struct{}]{}).result(t.Context(), client.ObjectKey{}, Plan{Again: time.Second}, done)
		if !errors.Is(err, test.err) || err == nil && result.RequeueAfter != time.Second {
			t.Errorf("%s: expected to back off from %v, or else to look again after a second, got %v, %v", name, test.err, err, result)
		}
	}
}
