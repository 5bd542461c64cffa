// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	ignitionerrors "github.com/coreos/ignition/v2/config/shared/errors"
	"github.com/coreos/ignition/v2/config/util"
	"github.com/coreos/ignition/v2/config/v3_5"
	"github.com/coreos/ignition/v2/config/v3_5/types"
	"github.com/coreos/vcontext/report"
)

const configField = "spec.config"

// newest is the version of Ignition to which each config is translated.
var newest = types.MaxVersion.String()

// parse reads an Ignition config of any supported version. A missing config is an empty one, because a MachineConfig
// may have only kernel arguments.
func parse(raw []byte, n *notes) types.Config {
	if isEmpty(raw) {
		return types.Config{Ignition: types.Ignition{Version: newest}}
	}
	raw, err := hideSecrets(raw)
	if err != nil {
		n.invalid(configField, "%v", err)
		return types.Config{}
	}
	config, found, err := parseVersion(raw)
	addReport(found, n)
	if err != nil && !found.IsFatal() {
		n.invalid(configField, "%s", explain(err))
	}
	return config
}

func isEmpty(raw []byte) bool {
	switch string(bytes.TrimSpace(raw)) {
	case "", "null", "{}":
		return true
	}
	return false
}

// parseVersion reads a config of version 3, and translates an older one.
func parseVersion(raw []byte) (types.Config, report.Report, error) {
	version, found, err := util.GetConfigVersion(raw)
	switch {
	case errors.Is(err, ignitionerrors.ErrInvalidVersion):
		return types.Config{}, found, fmt.Errorf("ignition.version is missing or is not a version: write ignition: {version: %s}", newest)
	case err != nil:
		return types.Config{}, found, err
	case version.Major == 2:
		return parseSpec2(raw)
	case version.Major != 3 || types.MaxVersion.LessThan(version) || version.PreRelease != "":
		return types.Config{}, found, fmt.Errorf("ignition.version: opcrew reads the versions 3.0.0 to %s and 2.2.0, not %s: write version: %s", newest, version, newest)
	}
	return v3_5.ParseCompatibleVersion(raw)
}

// addReport adds the errors and warnings that Ignition's library found.
func addReport(found report.Report, n *notes) {
	for _, entry := range found.Entries {
		field := fieldOf(entry)
		switch {
		case entry.Kind.IsFatal():
			n.invalid(field, "%s", advise(entry.Message))
		case isUnknown(entry):
			n.invalid(field, "%s: Ignition has no such field here, so it would have no effect: correct its name, or remove it", entry.Message)
		case !isIrrelevant(entry.Message):
			n.warn(field, "%s", entry.Message)
		}
	}
}

// formerKeys are keys of Ignition 2 that MachineConfigs of OpenShift's documentation still have, and that never had an
// effect there.
var formerKeys = []string{"networkd", "filesystem"}

// isUnknown reports whether an entry is about a key that Ignition does not have. A misspelled key would otherwise make an
// empty file, or none.
func isUnknown(entry report.Entry) bool {
	key, unknown := strings.CutPrefix(entry.Message, "unused key ")
	return unknown && !slices.Contains(formerKeys, key)
}

// fieldOf formats the path of a report entry, such as spec.config.storage.files[0].path.
func fieldOf(entry report.Entry) string {
	var out strings.Builder
	out.WriteString(configField)
	for _, element := range entry.Context.Path {
		if index, is := element.(int); is {
			fmt.Fprintf(&out, "[%d]", index)
			continue
		}
		fmt.Fprintf(&out, ".%v", element)
	}
	return out.String()
}
