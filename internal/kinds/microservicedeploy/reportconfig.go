// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package microservicedeploy

import (
	"fmt"
	"strings"

	customv1 "github.com/opcrew/opcrew/api/custom/v1"
	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy/config"
	"github.com/opcrew/opcrew/internal/kit/condition"
)

// reportIgnored warns about lines of the configuration that are not key=value. opcrew makes neither environment
// variables nor separate files from such lines.
func reportIgnored(set condition.Set, lines []string) {
	const kind = customv1.MicroServiceDeployConfigWarning
	if len(lines) == 0 {
		set.Remove(kind)
		return
	}
	more := ""
	if len(lines) > 10 {
		lines, more = lines[:10], " and more"
	}
	set.True(kind, customv1.ReasonIgnoredLines, fmt.Sprintf("spec.config: lines %s%s do not have the form key=value with a key of letters, digits, '.', '_' and '-'; the application finds these lines only in the file %s", strings.Join(lines, ", "), more, config.File))
}

// reportConfig warns about credentials that many users can read. The message names their keys, but never their values.
func reportConfig(set condition.Set, m *customv1.MicroServiceDeploy) {
	const kind = customv1.MicroServiceDeployConfigWarning
	if n := len(config.Parse(m.Spec.Config)); n > config.MaxVariables {
		set.True(kind, customv1.ReasonTooManyKeys, fmt.Sprintf("spec.config has %d keys; only the first %d in alphabetical order become environment variables, but each key becomes a file", n, config.MaxVariables))
		return
	}
	keys := config.SecretKeys(m.Spec.Config)
	if len(keys) == 0 || m.Spec.ConfigAs == customv1.ConfigAsSecret {
		reportIgnored(set, config.IgnoredLines(m.Spec.Config))
		return
	}
	set.True(kind, customv1.ReasonLooksSecret, fmt.Sprintf("spec.config has keys that look like credentials (%s), and anyone who may read ConfigMaps can see their values; set spec.configAs to Secret, or use spec.configFrom to keep the values out of this object too", strings.Join(keys, ", ")))
}
