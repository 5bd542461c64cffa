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

// reportIgnored warns about lines that are neither variables nor files.
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
	set.True(kind, customv1.ReasonIgnoredLines, fmt.Sprintf("spec.config: lines %s%s are not key=value with a key of letters, digits, '.', '_' and '-'; they stand in the file %s alone", strings.Join(lines, ", "), more, config.File))
}

// reportConfig warns about credentials where many users can read them. It names their keys, and never their values.
func reportConfig(set condition.Set, m *customv1.MicroServiceDeploy) {
	const kind = customv1.MicroServiceDeployConfigWarning
	if n := len(config.Parse(m.Spec.Config)); n > config.MaxVariables {
		set.True(kind, customv1.ReasonTooManyKeys, fmt.Sprintf("spec.config has %d keys; the first %d by name are in the environment, all of them in the files", n, config.MaxVariables))
		return
	}
	keys := config.SecretKeys(m.Spec.Config)
	if len(keys) == 0 || m.Spec.ConfigAs == customv1.ConfigAsSecret {
		reportIgnored(set, config.IgnoredLines(m.Spec.Config))
		return
	}
	set.True(kind, customv1.ReasonLooksSecret, fmt.Sprintf("spec.config has keys that look like credentials (%s), which anyone who may read ConfigMaps can see; use configAs: Secret or, to keep them out of this object too, configFrom", strings.Join(keys, ", ")))
}
