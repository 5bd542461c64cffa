// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/opcrew/opcrew/internal/kit/ensure"
)

// The operator logs each write, each step and each change of a condition, and nothing while nothing happens. With --v=1
// it also logs why nothing was done. controller-runtime logs the errors that a reconcile returns, and adds the keys
// controller, namespace, name and reconcileID.

// logChild logs what was done with a child.
func logChild(logger logr.Logger, result ensure.Result) {
	switch result.Action {
	case ensure.Created, ensure.Applied, ensure.Repaired, ensure.Replaced, ensure.Pruned:
		logger.Info("Wrote child", "child", result.Ref.String(), "action", result.Action)
	case ensure.Unchanged, "": // nothing was done, or the write failed; controller-runtime logs the error
	default:
		logger.V(1).Info("Did not change the child", "child", result.Ref.String(), "action", result.Action, "message", result.Message)
	}
}

// logStep logs a step. A step that returns ErrNotNow is tried again several times per second, so its repetitions are
// logged only with --v=1.
func (l *Loop[O, F, D]) logStep(ctx context.Context, key client.ObjectKey, step *Step, took time.Duration, err error) {
	logger := log.FromContext(ctx).WithValues("step", step.Name)
	switch {
	case err == nil:
		l.stepsLogged.Forget(key)
		logger.Info("Took step", "why", step.Why, "duration", took.String())
	case errors.Is(err, ErrNotNow):
		level := 0
		if l.stepsLogged.Get(key) == step.Name {
			level = 1
		}
		l.stepsLogged.Set(key, step.Name)
		logger.V(level).Info("Step was not taken", "why", step.Why, "reason", err.Error(), "duration", took.String())
	default: // the reconcile returns the error, and controller-runtime logs it
		logger.V(1).Info("Step failed", "why", step.Why, "duration", took.String())
	}
}

// logTransition logs a condition whose status or reason changed.
func logTransition(logger logr.Logger, t transition) {
	was := ""
	if t.was != nil {
		was = strings.TrimSpace(string(t.was.Status) + " " + t.was.Reason)
	}
	logger.Info("Condition changed", "condition", t.is.Type, "status", t.is.Status, "reason", t.is.Reason, "message", t.is.Message, "was", was)
}

// logRest logs, with --v=1, why the reconcile changed nothing.
func logRest(logger logr.Logger, plan Plan, done Outcome) {
	if done.wrote || !logger.V(1).Enabled() {
		return
	}
	why := "everything is as declared"
	switch {
	case done.retry:
		why = "a write or a step was based on outdated data or has to wait; the next reconcile decides again"
	case done.Held > 0:
		why = "opcrew holds back changes because the object is paused by " + strings.TrimSpace(done.PausedBy)
	case done.Contested != "":
		why = done.Contested
	case plan.Waits != "":
		why = "the next step has to wait: " + plan.Waits
	}
	logger.V(1).Info("The reconcile changed nothing", "why", why, "heldBack", done.Held, "lookAgain", done.again.String())
}
