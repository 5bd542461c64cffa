// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package hostfirewall

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"k8s.io/utils/clock"

	"github.com/opcrew/opcrew/internal/agents/hostfirewall/opening"
	"github.com/opcrew/opcrew/internal/agents/shared/durable"
	"github.com/opcrew/opcrew/internal/podapi/nodefirewall"
)

const (
	// lookTime is the time between two looks at the order.
	lookTime = 2 * time.Second
	// checkTime is the time between two comparisons of an order with the firewalls, which lose rules when they reload.
	checkTime = 30 * time.Second
)

// Tool is a firewall of the host.
type Tool interface {
	Name() string
	// Keep makes the rules of opcrew in the firewall those that are declared. It reports whether the firewall runs, and
	// how many changes are left: one call makes a limited number. An error says which rules the firewall does not have.
	Keep(ctx context.Context, declared []opening.Opening) (runs bool, left int, err error)
}

// Keeper carries out the orders for the firewalls of one host.
type Keeper struct {
	// Dir is the directory of the host with the order.
	Dir   string
	Tools []Tool
	Clock clock.WithTicker
	Log   *slog.Logger

	order   string // the last order that was carried out
	checked time.Time
	left    int
	closed  bool // without an order: the firewalls have no rules of opcrew
}

// Run carries out orders until the context ends.
func (k *Keeper) Run(ctx context.Context) {
	for ctx.Err() == nil {
		k.Turn(ctx)
		timer := k.Clock.NewTimer(lookTime)
		select {
		case <-ctx.Done():
		case <-timer.C():
		}
		timer.Stop()
	}
}

// Turn carries out the order if it is new, if changes are left, or if it is time to compare.
func (k *Keeper) Turn(ctx context.Context) {
	order, err := os.ReadFile(filepath.Join(k.Dir, nodefirewall.OrderFile))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = k.closeAll(ctx)
	case err == nil && (string(order) != k.order || k.left > 0 || k.Clock.Since(k.checked) >= checkTime):
		k.order, k.closed = string(order), false
		err = k.write(k.carryOut(ctx))
	}
	if err != nil {
		k.Log.Error("The order for the host's firewall could not be carried out", "error", err.Error())
	}
}

// closeAll removes all rules once if there is no order: it may have gone while the agent was still carrying it out.
func (k *Keeper) closeAll(ctx context.Context) error {
	due := k.order != "" || k.left > 0 || k.checked.IsZero() || k.Clock.Since(k.checked) >= checkTime
	if k.closed || !due {
		return nil
	}
	_, lacks := k.keep(ctx, nil)
	k.order, k.checked = "", k.Clock.Now()
	switch {
	case k.left > 0:
		return nil
	case lacks != "":
		return errors.New(lacks)
	}
	k.closed = true
	err := os.Remove(k.result())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func (k *Keeper) result() string { return filepath.Join(k.Dir, nodefirewall.ResultFile) }

func (k *Keeper) carryOut(ctx context.Context) nodefirewall.HostResult {
	result := nodefirewall.HostResult{Revision: nodefirewall.Revision(k.order)}
	order, err := nodefirewall.ParseOrder(k.order)
	if err != nil {
		result.Message = err.Error()
	} else {
		result.Tools, result.Message = k.keep(ctx, opening.Of(order.Rules))
	}
	k.checked = k.Clock.Now()
	result.Checked = k.checked
	return result
}

// keep returns the tools that run, and what their firewalls lack.
func (k *Keeper) keep(ctx context.Context, declared []opening.Opening) (tools []string, message string) {
	var lacks []string
	k.left = 0
	for _, tool := range k.Tools {
		runs, left, err := tool.Keep(ctx, declared)
		if runs {
			tools = append(tools, tool.Name())
		}
		k.left += left
		switch {
		case err != nil:
			lacks = append(lacks, tool.Name()+": "+err.Error())
		case left > 0:
			lacks = append(lacks, tool.Name()+": rules are still to be changed")
		}
	}
	return tools, strings.Join(lacks, "; ")
}

// write replaces the result. It need not survive a crash of the host: after a boot, the firewalls are compared again.
func (k *Keeper) write(result nodefirewall.HostResult) error {
	text, err := nodefirewall.EncodeResult(result)
	if err != nil {
		return err
	}
	if before, err := os.ReadFile(k.result()); err == nil && !sameAnswer(before, result) {
		k.Log.Info("The firewalls of the host are compared with the order", "revision", result.Revision, "tools", result.Tools, "message", result.Message)
	}
	next := durable.Next(k.result())
	if err := os.WriteFile(next, []byte(text), 0o600); err != nil {
		return fmt.Errorf("write the result of the host's firewall: %w", err)
	}
	return os.Rename(next, k.result())
}

func sameAnswer(before []byte, now nodefirewall.HostResult) bool {
	earlier, err := nodefirewall.ParseResult(string(bytes.TrimSpace(before)))
	return err == nil && earlier.Revision == now.Revision && earlier.Message == now.Message
}
