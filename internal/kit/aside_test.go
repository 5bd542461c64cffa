// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"errors"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// An error that is returned backs off, and takes the place of the time that the plan asked for.
func TestOnlyAFailureThatHoldsUpSomethingBacksOff(t *testing.T) {
	refused, lost := errors.New("exceeded quota"), errors.New("no route to host")
	for name, test := range map[string]struct {
		do   func(*Outcome)
		err  error
		told error
	}{
		"nothing fails":             {func(*Outcome) {}, nil, nil},
		"a patch aside":             {func(o *Outcome) { o.failAside(refused) }, nil, refused},
		"a step":                    {func(o *Outcome) { o.fail(lost) }, lost, lost},
		"a step and a patch aside":  {func(o *Outcome) { o.fail(lost); o.failAside(refused) }, lost, lost},
		"a patch aside, and status": {func(o *Outcome) { o.failAside(refused); o.fail(lost) }, lost, lost},
	} {
		done := Outcome{}
		test.do(&done)
		if !errors.Is(done.Err, test.told) {
			t.Errorf("%s: expected to be told of %v, got %v", name, test.told, done.Err)
		}
		result, err := (&Loop[client.Object, int]{}).result(client.ObjectKey{}, Plan{Again: time.Second}, done)
		if !errors.Is(err, test.err) || err == nil && result.RequeueAfter != time.Second {
			t.Errorf("%s: expected to back off from %v, or else to look again after a second, got %v, %v", name, test.err, err, result)
		}
	}
}
