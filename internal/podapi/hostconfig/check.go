// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package hostconfig

import (
	"errors"
	"fmt"
	"math"
	"path"
	"strings"
	"unicode/utf8"
)

const (
	// UnitDirectory holds the unit files that a configuration declares.
	UnitDirectory = "/etc/systemd/system"
	// StateDirectory is the machine agent's own directory on the host. No configuration may change it.
	StateDirectory = "/var/lib/opcrew/machine"

	maxEntries = 10_000
	maxPath    = 4095
	maxName    = 255
	maxMode    = 0o7777
)

// Check returns all errors of a configuration. What only the host shows, such as whether a user exists, the machine
// agent checks.
func (c *Config) Check() error {
	return errors.Join(
		demand(isName(c.Name), "name must have only letters, digits, dashes and dots, and at most %d characters", maxName),
		c.checkPaths(),
		c.checkDirectories(),
		c.checkFiles(),
		c.checkLinks(),
		c.checkUnits(),
		c.checkUsers(),
		c.checkArguments(),
	)
}

func demand(ok bool, format string, args ...any) error {
	if ok {
		return nil
	}
	return fmt.Errorf(format, args...)
}

// checkPath checks a path by itself.
func checkPath(p string) error {
	switch {
	case !strings.HasPrefix(p, "/") || path.Clean(p) != p || p == "/":
		return fmt.Errorf("path %q must be absolute, without a slash at the end, without . and .., and not the root", p)
	case !isText(p) || strings.ContainsAny(p, "\n") || len(p) > maxPath || longestPart(p) > maxName:
		return fmt.Errorf("path %q is not valid UTF-8, contains a line break or NUL, or is too long", p)
	}
	for _, reserved := range []string{"/proc", "/sys", "/dev", StateDirectory} {
		if p == reserved || strings.HasPrefix(p, reserved+"/") {
			return fmt.Errorf("path %s is below %s, which no configuration can change", p, reserved)
		}
	}
	return nil
}

func longestPart(p string) int {
	longest := 0
	for part := range strings.SplitSeq(p, "/") {
		longest = max(longest, len(part))
	}
	return longest
}

func (e *Entry) check() error {
	return errors.Join(e.User.check(e.Path, "user"), e.Group.check(e.Path, "group"))
}

func (p Principal) check(at, field string) error {
	switch {
	case p.ID != nil && p.Name != "":
		return fmt.Errorf("%s: %s must have an id or a name, not both", at, field)
	case p.ID != nil && (*p.ID < 0 || *p.ID >= math.MaxUint32):
		return fmt.Errorf("%s: the id of %s must be from 0 to %d", at, field, math.MaxUint32-1)
	case p.Name != "" && !isAccount(p.Name):
		return fmt.Errorf("%s: %q is not the name of a %s", at, p.Name, field)
	}
	return nil
}

func checkMode(at string, mode *uint32) error {
	return demand(mode == nil || *mode <= maxMode, "%s: mode must be at most 07777 (octal)", at)
}

// isText reports whether a text arrives on the host unchanged.
func isText(text string) bool { return utf8.ValidString(text) && !strings.ContainsRune(text, 0) }

func isName(text string) bool { return len(text) <= maxName && consistsOf(text, "-.") }

// isAccount reports whether a text can be the name of a user or group, in files whose fields end with a colon.
func isAccount(text string) bool {
	return len(text) <= maxName && consistsOf(text, "-._@$") && !strings.HasPrefix(text, "-")
}

// consistsOf reports whether a text has only letters, digits and the given others, and at least one of them.
func consistsOf(text, others string) bool {
	return text != "" && !strings.ContainsFunc(text, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune(others, r)
	})
}
