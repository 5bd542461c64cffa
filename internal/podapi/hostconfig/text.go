// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package hostconfig

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

func demand(ok bool, format string, args ...any) error {
	if ok {
		return nil
	}
	return fmt.Errorf(format, args...)
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
