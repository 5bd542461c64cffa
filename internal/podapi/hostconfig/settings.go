// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package hostconfig

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// suffixes are the types of units that systemd reads from files.
var suffixes = []string{"service", "socket", "device", "mount", "automount", "swap", "target", "path", "timer", "slice", "scope"}

// IsUnit reports whether systemd accepts a name for a unit.
func IsUnit(name string) bool {
	dot := strings.LastIndexByte(name, '.')
	return dot > 0 && len(name) <= maxName && consistsOf(name[:dot], `-._:@\`) && slices.Contains(suffixes, name[dot+1:])
}

func (c *Config) checkUnits() (err error) {
	seen := map[string]bool{}
	for _, u := range c.Units {
		err = errors.Join(err, u.check(), demand(!seen[u.Name], "unit %s is declared twice: declare it once", u.Name))
		seen[u.Name] = true
	}
	return err
}

func (u *Unit) check() error {
	if !IsUnit(u.Name) {
		return fmt.Errorf("%q is not the name of a unit: it must end in a type such as .service", u.Name)
	}
	err := demand(u.Contents == nil || isText(*u.Contents), "unit %s: the contents are not valid UTF-8", u.Name)
	if u.Mask != nil && *u.Mask && u.Enabled != nil && *u.Enabled {
		err = errors.Join(err, fmt.Errorf("unit %s is both masked and enabled: declare one of them", u.Name))
	}
	for _, d := range u.DropIns {
		named := strings.HasSuffix(d.Name, ".conf") && len(d.Name) <= maxName && consistsOf(d.Name, `-._:@\`)
		err = errors.Join(err,
			demand(named, "unit %s: the name of drop-in %q must end in .conf, and have no slash", u.Name, d.Name),
			demand(isText(d.Contents), "unit %s: the contents of drop-in %s are not valid UTF-8", u.Name, d.Name))
	}
	return err
}

func (c *Config) checkUsers() (err error) {
	seen := map[string]bool{}
	for _, u := range c.Users {
		err = errors.Join(err, u.check(), demand(!seen[u.Name], "user %s is declared twice: declare it once", u.Name))
		seen[u.Name] = true
	}
	return err
}

// check never shows a password hash.
func (u *User) check() error {
	if !isAccount(u.Name) {
		return fmt.Errorf("%q is not the name of a user", u.Name)
	}
	err := demand(u.PasswordHash == nil || isField(*u.PasswordHash), "user %s: the password hash must have no colon and no line break", u.Name)
	for i, key := range u.SSHAuthorizedKeys {
		usable := isField(strings.ReplaceAll(key, ":", "")) && strings.TrimSpace(key) == key && key != "" && key[0] != '#'
		err = errors.Join(err, demand(usable, "user %s: sshAuthorizedKeys[%d] must be one line, and not a comment", u.Name, i))
	}
	return err
}

// isField reports whether a text fits into a field of /etc/shadow.
func isField(text string) bool { return isText(text) && !strings.ContainsAny(text, ":\n\r") }

func (c *Config) checkArguments() (err error) {
	for _, argument := range slices.Concat(c.KernelArguments, c.RemovedKernelArguments) {
		err = errors.Join(err, demand(isArgument(argument), "kernel argument %q must have no spaces, quotes, backslashes or $", argument))
	}
	for _, argument := range c.KernelArguments {
		if slices.Contains(c.RemovedKernelArguments, argument) {
			err = errors.Join(err, fmt.Errorf("kernel argument %s is both required and forbidden: declare one of them", argument))
		}
	}
	return err
}

// isArgument reports whether shells and boot loaders pass an argument on unchanged.
func isArgument(text string) bool {
	return len(text) <= maxPath && consistsOf(text, "-._=,:/+@%^*~[]!")
}
