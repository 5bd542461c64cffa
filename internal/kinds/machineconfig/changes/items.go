// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package changes

import (
	"fmt"
	"strconv"

	"github.com/opcrew/opcrew/internal/podapi/hostconfig"
)

// items returns the parts of a configuration.
func items(c hostconfig.Config, digest Digest) map[key]item {
	out := map[key]item{}
	for _, d := range c.Directories {
		out[key{Directory, d.Path}] = item{traits: append(entryTraits(d.Entry), modeTrait(d.Mode))}
	}
	for _, f := range c.Files {
		out[key{File, f.Path}] = item{traits: fileTraits(f, digest)}
	}
	for _, l := range c.Links {
		out[key{Link, l.Path}] = item{traits: append(entryTraits(l.Entry), plain("to", l.Target), flag("hard link", l.Hard))}
	}
	for _, u := range c.Units {
		addUnit(out, u, digest)
	}
	for _, u := range c.Users {
		addUser(out, u)
	}
	addArguments(out, c)
	return out
}

func fileTraits(f hostconfig.File, digest Digest) []trait {
	var out []trait
	if f.Contents != nil {
		out = append(out, content("", f.Path, *f.Contents, digest))
	}
	for _, text := range f.Append {
		out = append(out, content("appends", f.Path, text, digest))
	}
	return append(append(out, modeTrait(f.Mode)), entryTraits(f.Entry)...)
}

func entryTraits(e hostconfig.Entry) []trait {
	return []trait{plain("user", principal(e.User)), plain("group", principal(e.Group)), flag("overwrites", e.Overwrite)}
}

func principal(p hostconfig.Principal) string {
	if p.ID != nil {
		return strconv.Itoa(*p.ID)
	}
	return p.Name
}

// addUnit adds a unit, if the configuration declares more of it than drop-ins, and its drop-ins.
func addUnit(out map[key]item, u hostconfig.Unit, digest Digest) {
	enabled := u.Enabled != nil && *u.Enabled
	if u.Contents != nil || u.Enabled != nil || u.Mask != nil {
		var traits []trait
		if u.Contents != nil {
			traits = append(traits, content("", u.Path(), []byte(*u.Contents), digest))
		}
		traits = append(traits, choice(u.Enabled, "enabled", "disabled"), choice(u.Mask, "masked", "unmasked"))
		out[key{Unit, u.Name}] = item{traits: traits, enabled: enabled}
	}
	for _, d := range u.DropIns {
		text := content("", u.DropInPath(d.Name), []byte(d.Contents), digest)
		out[key{DropIn, u.Name + "/" + d.Name}] = item{traits: []trait{text}, enabled: enabled}
	}
}

// addUser adds the SSH keys and the password of a user. A password hash is never shown, nor is a hash of it.
func addUser(out map[key]item, u hostconfig.User) {
	if len(u.SSHAuthorizedKeys) > 0 {
		var traits []trait
		for _, line := range u.SSHAuthorizedKeys {
			traits = append(traits, trait{"key", line, SHA256("", []byte(line))})
		}
		out[key{SSHKeys, u.Name}] = item{traits: traits}
	}
	if u.PasswordHash != nil {
		out[key{Password, u.Name}] = item{traits: []trait{{"password", *u.PasswordHash, ""}}}
	}
}

// argumentOrder is the name of the item for the order of all kernel arguments.
const argumentOrder = "(order)"

// addArguments adds kernel arguments. An argument may occur several times, and the order of all matters, because some
// arguments apply to those after them.
func addArguments(out map[key]item, c hostconfig.Config) {
	counts := map[string]int{}
	for _, argument := range c.KernelArguments {
		counts[argument]++
	}
	for argument, n := range counts {
		out[key{KernelArgument, argument}] = item{traits: []trait{plain("required", times(n))}}
	}
	for _, argument := range c.RemovedKernelArguments {
		out[key{KernelArgument, argument}] = item{traits: []trait{plain("forbidden", times(1))}}
	}
	if len(c.KernelArguments) > 1 {
		order := fmt.Sprint(c.KernelArguments)
		out[key{KernelArgument, argumentOrder}] = item{traits: []trait{plain("", order)}}
	}
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

func content(label, path string, text []byte, digest Digest) trait {
	return trait{label, "x" + string(text), digest(path, text)}
}

func modeTrait(mode *uint32) trait {
	if mode == nil {
		return trait{}
	}
	return plain("mode", fmt.Sprintf("%04o", *mode))
}

func plain(label, value string) trait {
	if value == "" {
		return trait{}
	}
	return trait{label, value, value}
}

func flag(label string, is bool) trait {
	if !is {
		return trait{}
	}
	return trait{label, "x", ""}
}

func choice(is *bool, yes, no string) trait {
	switch {
	case is == nil:
		return trait{}
	case *is:
		return flag(yes, true)
	}
	return flag(no, true)
}
