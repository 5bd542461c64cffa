// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"errors"
	"fmt"
	"strings"

	ignitionerrors "github.com/coreos/ignition/v2/config/shared/errors"
)

// advice says what to write instead, for errors of Ignition's library.
var advice = map[error]string{
	ignitionerrors.ErrDuplicate:                "another entry has the same path, name or value; keep one of them",
	ignitionerrors.ErrPathRelative:             "write an absolute path, such as /etc/motd",
	ignitionerrors.ErrDirtyPath:                "remove '.', '..', repeated slashes and the slash at the end",
	ignitionerrors.ErrNoPath:                   "add the path",
	ignitionerrors.ErrBothIDAndNameSet:         "remove id or name",
	ignitionerrors.ErrFileIllegalMode:          "write at most 4095 (octal 7777), such as 420 for octal 0644",
	ignitionerrors.ErrOverwriteAndNilSource:    "add contents.source, or remove overwrite",
	ignitionerrors.ErrVerificationAndNilSource: "add source, or remove verification",
	ignitionerrors.ErrFileUsedSymlink:          "a part of the path is a link of the same configuration; write the target's path",
	ignitionerrors.ErrDirectoryUsedSymlink:     "a part of the path is a link of the same configuration; write the target's path",
	ignitionerrors.ErrLinkUsedSymlink:          "a part of the path is a link of the same configuration; write the target's path",
	ignitionerrors.ErrLinkTargetRequired:       "add target",
	ignitionerrors.ErrHardLinkToDirectory:      "remove hard: true",
	ignitionerrors.ErrPathConflictsSystemd:     "systemd.units writes the same file; keep one of them",
	ignitionerrors.ErrInvalidSystemdExt:        "end the name in .service, .timer or another suffix of systemd",
	ignitionerrors.ErrInvalidSystemdDropinExt:  "end the name in .conf",
	ignitionerrors.ErrInvalidScheme:            "write the contents as a data URL, or as secret://<namespace>/<name>/<key>",
	ignitionerrors.ErrInvalidUrl:               "write the contents as a data URL, or as secret://<namespace>/<name>/<key>",
	ignitionerrors.ErrCompressionInvalid:       "write gzip, or remove compression",
	ignitionerrors.ErrHashMalformed:            "write sha256-<hash> or sha512-<hash>",
	ignitionerrors.ErrHashUnrecognized:         "write sha256-<hash> or sha512-<hash>",
	ignitionerrors.ErrHashWrongSize:            "write the whole hash in hexadecimal digits",
}

// irrelevant are warnings of Ignition's library about what works in opcrew.
var irrelevant = []error{ignitionerrors.ErrModeSpecialBits}

// advise adds to a message of Ignition's library what to write instead.
func advise(message string) string {
	for err, instead := range advice {
		if err.Error() == message {
			return message + ": " + instead
		}
	}
	return message
}

func isIrrelevant(message string) bool {
	for _, err := range irrelevant {
		if err.Error() == message {
			return true
		}
	}
	return false
}

// explain describes an error that belongs to no field of a config.
func explain(err error) string {
	switch {
	case errors.Is(err, ignitionerrors.ErrInvalid), errors.Is(err, ignitionerrors.ErrEmpty):
		return fmt.Sprintf("not an Ignition config: write ignition: {version: %s} and the sections that you need", newest)
	case errors.Is(err, ignitionerrors.ErrUnknownVersion):
		return fmt.Sprintf("unknown version of Ignition: write version: %s", newest)
	}
	return strings.TrimSpace(err.Error())
}
