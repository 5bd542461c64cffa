// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package kernel

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/google/nftables"
	"github.com/google/nftables/expr"

	"github.com/opcrew/opcrew/internal/agents/firewall/ruleset"
)

// Active reports whether the kernel has exactly this table: its chain, all rules in their order, and all addresses.
func (k *Kernel) Active(t ruleset.Table) (bool, error) {
	conn, err := nftables.New(k.options...)
	if err != nil {
		return false, err
	}
	if exists, err := k.Exists(); !exists {
		return false, err
	}
	p := compile(t)
	for _, check := range []func(*nftables.Conn, *program) (bool, error){hasChain, hasRules, hasSets} {
		same, err := check(conn, p)
		if missing(err) {
			return false, nil // another process removed it meanwhile
		}
		if err != nil {
			return false, fmt.Errorf("read the firewall table back: %w", err)
		}
		if !same {
			return false, nil
		}
	}
	return true, nil
}

func hasChain(conn *nftables.Conn, _ *program) (bool, error) {
	chains, err := conn.ListChainsOfTableFamily(nftables.TableFamilyINet)
	own := slices.DeleteFunc(chains, func(c *nftables.Chain) bool { return c.Table.Name != table().Name })
	return len(own) == 1 && own[0].Name == chainName && own[0].Hooknum != nil && *own[0].Hooknum == *nftables.ChainHookPrerouting &&
		own[0].Priority != nil && *own[0].Priority == *nftables.ChainPriorityMangle, err
}

func hasRules(conn *nftables.Conn, p *program) (bool, error) {
	found, err := conn.GetRules(table(), &nftables.Chain{Name: chainName, Table: table()})
	if err != nil || len(found) != len(p.rules) {
		return false, err
	}
	for i, rule := range found {
		if describe(rule.Exprs) != describe(p.rules[i].exprs) {
			return false, nil
		}
	}
	return true, nil
}

// describe returns the text of a rule. The counts of packets and the ids of sets do not belong to it.
func describe(exprs []expr.Any) string {
	var out strings.Builder
	for _, e := range exprs {
		switch e := e.(type) {
		case *expr.Counter:
			out.WriteString("counter ")
		case *expr.Lookup:
			fmt.Fprintf(&out, "lookup %s %d %v ", e.SetName, e.SourceRegister, e.Invert)
		default:
			fmt.Fprintf(&out, "%T%+v ", e, e)
		}
	}
	return out.String()
}

func hasSets(conn *nftables.Conn, p *program) (bool, error) {
	found, err := conn.GetSets(table())
	if err != nil || len(found) != len(p.sets) {
		return false, err
	}
	for _, s := range p.sets {
		i := slices.IndexFunc(found, func(f *nftables.Set) bool { return f.Name == s.name })
		if i < 0 {
			return false, nil
		}
		same, err := hasElements(conn, found[i], s)
		if err != nil || !same {
			return false, err
		}
	}
	return true, nil
}

func hasElements(conn *nftables.Conn, live *nftables.Set, s set) (bool, error) {
	live.Table = table()
	found, err := conn.GetSetElements(live)
	if err != nil {
		return false, err
	}
	found = slices.DeleteFunc(found, isStart)
	want := elements(s)
	slices.SortFunc(found, byKey)
	slices.SortFunc(want, byKey)
	return slices.EqualFunc(found, want, func(a, b nftables.SetElement) bool { return byKey(a, b) == 0 && a.IntervalEnd == b.IntervalEnd }), nil
}

// isStart reports whether an element only says that no range begins before the first one.
func isStart(e nftables.SetElement) bool {
	return e.IntervalEnd && !slices.ContainsFunc(e.Key, func(b byte) bool { return b != 0 })
}

func byKey(a, b nftables.SetElement) int { return bytes.Compare(a.Key, b.Key) }
