// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redis

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// emptyDump is how many bytes FUNCTION DUMP reports no libraries: a version and a checksum (functions.c, functionDumpCommand).
const emptyDump = 10

// equip brings a primary that has no slots the function libraries of the one that gives it the first: once in a move. Neither
// MIGRATE nor a job does, as libraries are no keys: what clients have loaded on all primaries they could not call for keys
// there. redis-cli does it when it adds a node (redis-cli.c, clusterManagerCommandAddNode). Replicas get them by replication.
func (b *batch) equip(ctx context.Context) error {
	to := b.To.ID
	if !b.isBare(to) {
		return nil
	}
	err := b.copyLibraries(ctx)
	if err != nil && !refusedForGood(err) {
		return err
	}
	if err != nil {
		b.note(func(p *Progress) {
			p.Unequipped = fmt.Errorf("%s has not got the function libraries of %s: %w", b.To.Address, b.From.Address, err)
		})
	}
	b.isEquipped(to)
	return nil
}

func (m *mover) isBare(id string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Contains(m.plan.Bare, id)
}

func (m *mover) isEquipped(id string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.plan.Bare = slices.DeleteFunc(slices.Clone(m.plan.Bare), func(other string) bool { return other == id }) // the step is not ours
}

// copyLibraries may be repeated: all libraries come or none does (functions.c, libraryJoin). Those of the same name are
// replaced: who has no slots is called by no one, and its own may be of a time when it had some, as CLUSTER RESET and
// FLUSHALL leave them. Those of other names stay.
func (b *batch) copyLibraries(ctx context.Context) error {
	answers, err := b.do(ctx, b.From.Address, Command{"FUNCTION", "DUMP"})
	if err != nil {
		return err
	}
	dump := text(answers[0])
	if len(dump) <= emptyDump {
		return nil
	}
	_, err = b.do(ctx, b.To.Address, Command{"FUNCTION", "RESTORE", dump, "REPLACE"})
	return err
}

// refusedForGood reports whether a server would refuse libraries the next time too. Slots go without them then, as there may be
// none to call, and a cluster that never grows is worse: the server knows no FUNCTION (ERR), or forbids it (NOPERM), or a
// library of another name has a function of the same name there (ERR), of which the user must say which it is to be. All else
// passes, and the move is tried again: a server that loads, is busy or full, or follows another by now says so by another word,
// and would refuse keys too; and where no answer came no one knows.
func refusedForGood(err error) bool {
	refusal, is := errors.AsType[*Refusal](err)
	return is && (strings.HasPrefix(refusal.Text, "ERR ") || strings.HasPrefix(refusal.Text, "NOPERM "))
}
