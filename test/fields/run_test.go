// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build fields

package fields

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/test/fields/table"
)

// long is the time limit of one edit. It is generous, for a busy machine; an edit that succeeds ends much earlier.
const long = 8 * time.Minute

// trial is the test of one row: the edit of one field of one object.
type trial struct {
	kind *table.File
	row  table.Row
	path string
	// namespace and name identify the object that is edited.
	namespace, name string

	// certificate and privateKey are PEM-encoded. Some rows store them in Secrets that their objects need.
	certificate, privateKey []byte

	before, after snapshot
	err           error
}

func (t *trial) String() string { return t.kind.Kind + " " + t.path }

// run creates the object and edits it. It returns an error if the effect in the row does not happen.
func (t *trial) run(ctx context.Context) error {
	object, err := t.create(ctx)
	if err != nil {
		return fmt.Errorf("creating the object to edit: %w", err)
	}
	if t.row.Effect == table.Refused {
		return t.refused(ctx, object)
	}
	if err := t.until(ctx, long, t.settled); err != nil {
		return fmt.Errorf("the object to edit does not settle: %w", err)
	}
	if err := t.look(ctx, env.Client, t.expected()...); err == nil {
		return errors.New("the row's observation holds before the edit, so it proves nothing")
	}
	if t.before, err = t.snap(ctx); err != nil {
		return err
	}
	if err := t.edit(ctx, object); err != nil {
		return fmt.Errorf("the edit is refused: %w", err)
	}
	if err := t.until(ctx, long, t.effect); err != nil {
		return fmt.Errorf("an edit has no effect that is seen: %w", err)
	}
	return nil
}

// create creates the trial's object, and before it the objects that it depends on.
func (t *trial) create(ctx context.Context) (*unstructured.Unstructured, error) {
	for _, need := range slices.Concat(t.kind.Needs, t.row.Needs) {
		if _, err := t.make(ctx, need); err != nil {
			return nil, err
		}
	}
	return t.make(ctx, table.Merge(t.kind.Base, t.row.With))
}

func (t *trial) make(ctx context.Context, declared table.Object) (*unstructured.Unstructured, error) {
	object := &unstructured.Unstructured{Object: table.Named(declared, t.name).(table.Object)}
	if object.GetName() == "" {
		object.SetName(t.name)
	}
	if namespaced, err := env.Client.IsObjectNamespaced(object); err != nil {
		return nil, err
	} else if namespaced {
		object.SetNamespace(t.namespace)
	}
	if err := t.certify(object); err != nil {
		return nil, err
	}
	return object, env.Client.Create(ctx, object, client.FieldValidation("Strict"))
}

// edit patches the object with the row's change.
func (t *trial) edit(ctx context.Context, object *unstructured.Unstructured) error {
	change := table.Named(t.row.Change(t.path, table.Merge(t.kind.Base, t.row.With)), t.name).(table.Object)
	raw, err := json.Marshal(change)
	if err != nil {
		return err
	}
	return env.Client.Patch(ctx, object, client.RawPatch(types.MergePatchType, raw), client.FieldOwner("kubectl-edit"), client.FieldValidation("Strict"))
}

func (t *trial) refused(ctx context.Context, object *unstructured.Unstructured) error {
	switch err := t.edit(ctx, object); {
	case err == nil:
		return fmt.Errorf("expected a refusal with %q, the server accepts it", t.row.Says)
	case !apierrors.IsInvalid(err) && !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), t.row.Says):
		return fmt.Errorf("expected a refusal with %q, got %w", t.row.Says, err)
	}
	return nil
}

// expected returns the observations that must hold after the edit.
func (t *trial) expected() []table.See {
	if t.row.Effect != table.NotImplemented {
		return t.row.See
	}
	return []table.See{{
		Kind: "self", Operator: "~", Want: strings.TrimPrefix(t.path, "spec."),
		Path: `{.status.conditions[?(@.type=="FieldsIgnored")].message}`,
	}}
}

// effect returns nil once the operator has processed the edited spec and the edit has had the effect that the table row
// describes. Before that, it returns an error.
func (t *trial) effect(ctx context.Context, from client.Reader) error {
	if err := t.observed(ctx, from); err != nil {
		return err
	}
	if err := t.look(ctx, from, t.expected()...); err != nil {
		return err
	}
	after, err := t.snap(ctx)
	if err != nil {
		return err
	}
	t.after = after
	if t.row.Effect == table.Rollout {
		return t.before.replacedIn(after, t.row.Pods)
	}
	if t.row.Gone {
		return nil
	}
	return t.before.keptIn(after)
}

// until calls check repeatedly until it returns nil. check must succeed first with the cached reader, and then with the
// reader of the API server. After limit, until returns the last error of check.
func (t *trial) until(ctx context.Context, limit time.Duration, check func(context.Context, client.Reader) error) error {
	deadline := time.Now().Add(limit)
	for pause := 100 * time.Millisecond; ; pause = min(pause*3/2, time.Second) {
		err := check(ctx, seen)
		if err == nil {
			err = check(ctx, env.Client)
		}
		if err == nil || time.Now().After(deadline) {
			return err
		}
		time.Sleep(pause)
	}
}
