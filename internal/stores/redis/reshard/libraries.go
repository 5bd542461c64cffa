// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package reshard

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/opcrew/opcrew/internal/stores/redis/server"
)

// emptyDump is the size of a FUNCTION DUMP without libraries, in bytes. It has only a version and a checksum
// (functions.c, functionDumpCommand).
const emptyDump = 10

// equip copies the function libraries to a primary before that primary gets its first slot. A slot move does not copy
// libraries, so clients could not call the functions on that primary. redis-cli copies them too
// (clusterManagerCommandAddNode).
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
			p.Unequipped = fmt.Errorf("%s has not received the function libraries of %s: %w", b.To.Address, b.From.Address, err)
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
	// The slice is cloned, because the step that started the move shares it.
	m.plan.Bare = slices.DeleteFunc(slices.Clone(m.plan.Bare), func(other string) bool { return other == id })
}

// copyLibraries copies all libraries or none (functions.c, libraryJoin), and may be repeated. The destination may have
// old libraries, because CLUSTER RESET and FLUSHALL do not delete them. Those with the same name are replaced.
func (b *batch) copyLibraries(ctx context.Context) error {
	answers, err := b.do(ctx, b.From.Address, server.Command{"FUNCTION", "DUMP"})
	if err != nil {
		return err
	}
	dump := server.Text(answers[0])
	if len(dump) <= emptyDump {
		return nil
	}
	_, err = b.do(ctx, b.To.Address, server.Command{"FUNCTION", "RESTORE", dump, "REPLACE"})
	return err
}

// refusedForGood reports whether a retry would fail too, because of missing support (ERR), permissions (NOPERM), a
// conflicting library (ERR) or the size. The slots then move without the libraries. After other errors, the move is
// retried.
func refusedForGood(err error) bool {
	refusal, is := errors.AsType[*server.Refusal](err)
	return server.TooLarge(err) || is && (strings.HasPrefix(refusal.Text, "ERR ") || strings.HasPrefix(refusal.Text, "NOPERM "))
}
