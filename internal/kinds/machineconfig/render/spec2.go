// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"encoding/json"
	"fmt"

	"github.com/coreos/ign-converter/translate/v23tov30"
	ignition2 "github.com/coreos/ignition/config/v2_3"
	"github.com/coreos/ignition/v2/config/v3_5"
	"github.com/coreos/ignition/v2/config/v3_5/types"
	"github.com/coreos/vcontext/report"
)

// parseSpec2 translates a config of version 2. It first becomes one of version 3.0 by the converter that OpenShift's
// operator uses, and is then read like any other.
func parseSpec2(raw []byte) (types.Config, report.Report, error) {
	const instead = "write a config of version 3.5.0, or convert it with ign-converter"
	old, found, err := ignition2.Parse(raw)
	if err != nil {
		return types.Config{}, report.Report{}, fmt.Errorf("not a valid config of version 2: %w: %s: %s", err, found, instead)
	}
	translated, err := v23tov30.Translate(old, nil)
	if err != nil {
		return types.Config{}, report.Report{}, fmt.Errorf("a config of version 2 that has no equivalent in version 3: %w: %s", err, instead)
	}
	raw, err = json.Marshal(translated)
	if err != nil {
		return types.Config{}, report.Report{}, fmt.Errorf("encode the translated config: %w", err)
	}
	return v3_5.ParseCompatibleVersion(raw)
}
