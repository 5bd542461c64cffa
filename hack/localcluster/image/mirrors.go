// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package image

import "context"

// Mirrors says from where this machine gets Debian packages.
type Mirrors struct {
	Suite    string // code name of this machine's Debian release
	Sources  string // content of a sources.list
	Settings string // content of an apt.conf, with proxies and retries
}

// ReadMirrors reads the mirrors from the configuration of this machine's apt.
func ReadMirrors(ctx context.Context) (Mirrors, error) {
	suite, err := hostSuite()
	if err != nil {
		return Mirrors{}, err
	}
	m := Mirrors{Suite: suite}
	if m.Sources, err = readSources(ctx, suite, suite); err != nil {
		return Mirrors{}, err
	}
	m.Settings, err = readAcquire(ctx)
	return m, err
}
