// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package changes

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/opcrew/opcrew/internal/podapi/hostconfig"
)

// Digest returns what the status shows instead of the content of a file. For content that comes from a Secret, it
// should depend on a key that only the operator knows.
type Digest func(path string, content []byte) string

// SHA256 is the Digest for content that is not secret.
func SHA256(_ string, content []byte) string {
	sum := sha256.Sum256(content)
	return "sha256-" + hex.EncodeToString(sum[:])
}

// Diff returns the differences between two configurations, sorted by kind and name. The names of the configurations do
// not count.
func Diff(from, to hostconfig.Config, digest Digest) []Change {
	old, next := items(from, digest), items(to, digest)
	var out []Change
	for key, was := range old {
		if _, stays := next[key]; !stays {
			out = append(out, Change{Kind: key.kind, Name: key.name, Action: Removed, From: was.describe()})
		}
	}
	for key, is := range next {
		was, existed := old[key]
		switch {
		case !existed:
			out = append(out, Change{Kind: key.kind, Name: key.name, Action: Added, To: is.describe(), enabled: is.enabled})
		case !slices.Equal(was.traits, is.traits):
			a, b := differing(was.traits, is.traits)
			out = append(out, Change{Kind: key.kind, Name: key.name, Action: Changed, From: a, To: b, enabled: is.enabled})
		}
	}
	out = withoutImpliedOrder(out)
	slices.SortFunc(out, compare)
	return out
}

// withoutImpliedOrder removes the order of kernel arguments if arguments are added or removed, which changes the order.
func withoutImpliedOrder(all []Change) []Change {
	isOther := func(c Change) bool { return c.Kind == KernelArgument && c.Name != argumentOrder }
	if !slices.ContainsFunc(all, isOther) {
		return all
	}
	return slices.DeleteFunc(all, func(c Change) bool { return c.Kind == KernelArgument && c.Name == argumentOrder })
}

// key identifies an item of a configuration.
type key struct {
	kind Kind
	name string
}

// item is a part of a configuration that changes as a whole.
type item struct {
	traits  []trait
	enabled bool
}

// trait is a property of an item. Values are compared; shown is what users see of the value.
type trait struct{ label, value, shown string }

// describe lists all traits, as in "sha256-0123..., mode 0644".
func (i item) describe() string {
	var out []string
	for _, t := range i.traits {
		if t.value != "" {
			out = append(out, t.String())
		}
	}
	return strings.Join(out, ", ")
}

func (t trait) String() string { return strings.TrimSpace(t.label + " " + t.shown) }

// differing describes the traits that two versions of an item do not have in common.
func differing(from, to []trait) (before, after string) {
	only := func(a, b []trait) string {
		var out []string
		for _, t := range a {
			if !slices.Contains(b, t) {
				out = append(out, t.String())
			}
		}
		return strings.Join(out, ", ")
	}
	return only(from, to), only(to, from)
}
