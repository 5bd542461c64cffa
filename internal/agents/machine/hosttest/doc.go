// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package hosttest has a model of a host for tests: a disk, systemd's unit files and links, sysctls, a boot loader and a
// simulated policy of SELinux. With a disk of package disktest, its programs stop when the agent crashes. A test
// compares its systemctl with the program of that name. Only tests import the package.
package hosttest
