// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package etcd builds the releases of etcd that tests run on this machine. These releases are in the local cluster's
// image catalogue, which pins each minor version in a separate go.mod file. Release 3.4 is not a usable Go module, so
// it comes from Debian.
package etcd

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// The available releases, from the oldest to the newest.
const (
	V34 = "3.4.23"
	V35 = "3.5.35"
	V36 = "3.6.16"
	V37 = "3.7.3"
)

// Releases returns all releases, from the oldest to the newest.
func Releases() []string { return []string{V34, V35, V36, V37} }

// Image returns the image that an EtcdCluster uses by default for a release.
func Image(version string) string { return "quay.io/coreos/etcd:v" + version }

// FromDebian reports whether a release comes from Debian, so that Build cannot build it.
func FromDebian(version string) bool { return version == V34 }

// Minor returns the first two numbers of a version.
func Minor(version string) string {
	return version[:strings.LastIndex(version, ".")]
}

// pins returns the path of the go.mod file that pins a release and its dependencies.
func pins(root, version string) string {
	return filepath.Join(root, "hack", "localcluster", "image", "modules", "etcd-"+Minor(version)+".mod")
}

// Build builds etcd and etcdctl of a release in the repository's folder bin, and returns their folder. The first call
// takes one or two minutes; later calls use its result.
func Build(ctx context.Context, root, version string) (string, error) {
	dir := filepath.Join(root, "bin", "etcd", version)
	for name, program := range map[string]string{"etcd": "server", "etcdctl": "etcdctl"} {
		build := exec.CommandContext(ctx, "go", "build", "-modfile", pins(root, version), "-buildvcs=false", "-trimpath", "-ldflags", "-s -w",
			"-o", filepath.Join(dir, name), "go.etcd.io/etcd/"+program+"/v3")
		build.Dir, build.Env = root, append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off")
		if out, err := build.CombinedOutput(); err != nil {
			return "", fmt.Errorf("build %s %s: %w\n%s", name, version, err, out)
		}
	}
	return dir, nil
}
