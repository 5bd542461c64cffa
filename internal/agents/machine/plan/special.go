// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"
	"strings"

	"github.com/opcrew/opcrew/internal/agents/machine/ledger"
	"github.com/opcrew/opcrew/internal/agents/machine/units"
	"github.com/opcrew/opcrew/internal/podapi/hostconfig"
)

// unenabled are states in which systemd starts a unit without links, so that there is nothing to enable.
var unenabled = []string{"static", "generated", "transient"}

func hasInstall(u hostconfig.Unit) bool { return units.Install(declared(u)...) != "" }

// declared returns the declared files of a unit.
func declared(u hostconfig.Unit) (files []string) {
	if u.Contents != nil {
		files = append(files, *u.Contents)
	}
	for _, d := range u.DropIns {
		files = append(files, d.Contents)
	}
	return files
}

// canDisable refuses what systemctl would ignore without a word.
func (t *translator) canDisable(u hostconfig.Unit) bool {
	key, word := ledger.Key{Kind: ledger.Unit, Name: u.Name}, t.facts.Words[u.Name]
	switch {
	case u.Contents != nil:
		return true
	case word == "alias":
		t.require(key, false, isAlias, u.Name)
	case word == "generated":
		t.require(key, false, "unit %s is generated at each boot: mask it, or change what it is generated from", u.Name)
	case units.OnlyOthers(t.facts.Installs[u.Path()]):
		t.require(key, false, hasOnlyOthers, u.Name)
	default:
		return true
	}
	return false
}

const (
	isAlias       = "unit %s is another name of a unit: declare that unit"
	hasOnlyOthers = "unit %s has no links of its own: declare the units that its [Install] section names with Also"
)

// isSpecial refuses to enable a unit for which systemctl would do nothing, or fail.
func (t *translator) isSpecial(u hostconfig.Unit) bool {
	key, word, install := ledger.Key{Kind: ledger.Unit, Name: u.Name}, t.facts.Words[u.Name], units.Install(declared(u)...)
	if u.Contents == nil {
		install += "\n" + t.facts.Installs[u.Path()]
	}
	switch {
	case u.Contents == nil && word == "alias":
		t.require(key, false, isAlias, u.Name)
	case units.OnlyOthers(install):
		t.require(key, false, hasOnlyOthers, u.Name)
	case strings.Contains(u.Name, "@.") && strings.TrimSpace(install) != "" && !strings.Contains(install, "DefaultInstance="):
		t.require(key, false, "unit %s is a template without DefaultInstance: declare an instance of it", u.Name)
	default:
		return false
	}
	return true
}

// canEnable reports whether a unit of the distribution can be enabled.
func (t *translator) canEnable(u hostconfig.Unit) bool {
	key := ledger.Key{Kind: ledger.Unit, Name: u.Name}
	word := t.facts.Words[u.Name]
	original := t.original(path(u.Path()))
	unmasks := u.Mask != nil && !*u.Mask || original.Target != hostconfig.MaskTarget
	// A unit file that opcrew wrote, and now removes, does not count.
	_, written := t.ledger.Records[path(u.Path())]
	switch {
	case word == units.NotFound, written && word != "" && !t.facts.Vendor[u.Name] && isAbsent(original):
		t.require(key, false, "the host has no unit %s, so it cannot be enabled: declare its contents, or install it first", u.Name)
		return false
	case word == units.Masked && !unmasks:
		t.require(key, false, "unit %s is masked, so it cannot be enabled: declare mask: false", u.Name)
		return false
	case word == units.Masked:
		return t.facts.Installs[u.Path()] != ""
	}
	return !slices.Contains(unenabled, word)
}
