// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build attack

package attack

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/test/testenv/eventually"
)

// patience is the time limit for an expectation. It is generous, for a busy machine.
const patience = 40 * time.Second

// watched is how long the test looks for harm after opcrew has reported its decision, because opcrew may act later.
const watched = 2 * time.Second

func TestNoAttackSucceeds(t *testing.T) {
	c := defended(t)
	for _, a := range attacks() {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			w := c.world(t)
			if problem := a.withstand(w); problem != "" {
				t.Errorf("%s\nsource: %s\nneeds %s", problem, a.source, a.needs)
			}
		})
	}
}

func TestEveryAttackSucceedsWithoutItsDefence(t *testing.T) {
	c := undefended(t)
	for _, a := range attacks() {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			if problem := a.succeed(c.world(t)); problem != "" {
				t.Errorf("%s: the test of this attack cannot fail", problem)
			}
		})
	}
}

// withstand runs an attack against all defences. It describes how the defences failed, or returns "" if they did not.
func (a attack) withstand(w *world) string {
	w.Helper()
	if a.before != nil {
		a.before(w)
	}
	err := a.attempt(w)
	switch {
	case err != nil && len(a.refused) == 0:
		return fmt.Sprintf("expected the request to be accepted and to be harmless, got %v", err)
	case err != nil:
		if word := missing(err.Error(), a.refused); word != "" {
			return fmt.Sprintf("expected a refusal that says %q, got %v", word, err)
		}
		return ""
	case a.stops == nil && a.harm == nil:
		return fmt.Sprintf("expected the request to be refused with %q, but it is accepted", a.refused)
	}
	return a.await(w)
}

// await looks for harm until some time after opcrew has reported what the attack expects. It describes the harm or the
// missing report, or returns "" if there is no harm and opcrew has reported.
func (a attack) await(w *world) string {
	w.Helper()
	quiet := time.Time{} // time at which the search for harm may end
	for deadline := time.Now().Add(patience); ; {
		if a.harm != nil {
			if harm := a.harm(w); harm != "" {
				return "the attack did harm: " + harm
			}
		}
		err := a.reported(w)
		switch now := time.Now(); {
		case err == nil && quiet.IsZero():
			quiet = now.Add(watched)
		case err == nil && now.After(quiet):
			return ""
		case err != nil && now.After(deadline):
			return err.Error()
		}
		w.pause()
	}
}

// reported returns an error until opcrew's report in condition Ready is the one that the attack expects.
func (a attack) reported(w *world) error {
	ready, err := w.ready()
	switch {
	case err != nil:
		return err
	case ready.Reason == "Pending":
		return errors.New("the operator has not reported yet")
	case a.stops == nil && a.pods && len(w.specs(w.ns)) == 0:
		return fmt.Errorf("expected harmless pods, but there are none; Ready is %s %s: %s", ready.Status, ready.Reason, ready.Message)
	case a.stops == nil:
		return nil
	case ready.Status != "False" || a.stops.reason != "" && ready.Reason != a.stops.reason:
		return fmt.Errorf("expected Ready to be False with reason %s, it is %s %s: %s", a.stops.reason, ready.Status, ready.Reason, ready.Message)
	}
	if word := missing(ready.Message, a.stops.words); word != "" {
		return fmt.Errorf("expected Ready to say %q, it says %s: %s", word, ready.Reason, ready.Message)
	}
	return nil
}

// succeed runs an attack without defences. It describes why the attack did no harm, or returns "" if it did.
func (a attack) succeed(w *world) string {
	w.Helper()
	if a.before != nil {
		a.before(w)
	}
	if a.control != nil {
		a.control(w)
	} else if err := a.attempt(w); err != nil {
		return fmt.Sprintf("the request is refused even without its defence: %v", err)
	}
	if a.harm == nil {
		return ""
	}
	eventually.True(w, patience, "the attack does harm without its defence", func() error {
		if a.harm(w) == "" {
			ready, _ := w.ready()
			return fmt.Errorf("the attack did no harm; Ready is %s %s: %s", ready.Status, ready.Reason, ready.Message)
		}
		return nil
	})
	return ""
}

// attempt sends the tenant's request.
func (a attack) attempt(w *world) error {
	if a.act != nil {
		return a.act(w)
	}
	if a.harm == nil && a.stops == nil { // only admission decides, so no operator needs to see the object
		return w.apply(a.manifest, client.DryRunAll)
	}
	return w.apply(a.manifest)
}
