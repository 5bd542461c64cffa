// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package render turns the MachineConfigs of a pool into the configuration of a host. It parses the Ignition config of
// each MachineConfig, merges them in the order of OpenShift's Machine Config Operator, and names the result by its
// content.
//
// The package has no side effects. Contents that come from Secrets are references in its first result, Rendered; the
// caller reads the Secrets, and Rendered.Complete puts their data in.
//
// Everything that a host could not do regardless of its state is an error here: a section of Ignition that opcrew does
// not support, a URL that would have to be fetched, a path below a file. An error names the MachineConfig and the path
// in its Ignition config, and says what to write instead.
package render
