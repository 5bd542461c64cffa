// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package hostconfig

import (
	"errors"
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
