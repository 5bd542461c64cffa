// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// listsAge is how long downloaded package lists are used before update reads them again.
const listsAge = time.Hour

// debianKeyring holds the keys that verify Debian's own mirrors.
const debianKeyring = "/usr/share/keyrings/debian-archive-keyring.gpg"

// apt downloads Debian packages into its own folders. It uses the host's mirrors, keys and proxies, but never changes
// the host's lists, cache and installed packages. The suite may differ from the host's.
type apt struct {
	dir   string
	suite string
}

// newApt prepares the folders for one suite. If suite is empty, it uses the host's suite.
func newApt(ctx context.Context, dir, suite string) (*apt, error) {
	host, err := hostSuite()
	if err != nil {
		return nil, err
	}
	if suite == "" {
		suite = host
	}
	a := &apt{dir: filepath.Join(dir, suite), suite: suite}
	for _, sub := range []string{"etc", "lists/partial", "cache"} {
		if err := os.MkdirAll(filepath.Join(a.dir, sub), 0o755); err != nil {
			return nil, fmt.Errorf("create folders for apt: %w", err)
		}
	}
	if err := a.writeSources(ctx, host); err != nil {
		return nil, err
	}
	return a, a.writeConfig(ctx)
}

// writeSources writes the mirrors for the suite.
func (a *apt) writeSources(ctx context.Context, host string) error {
	sources, err := readSources(ctx, host, a.suite)
	if err != nil {
		return err
	}
	return os.WriteFile(a.path("etc/sources.list"), []byte(sources), 0o644)
}

// writeConfig copies only the host's settings for reaching mirrors, such as proxies and retries. It leaves out the
// host's hooks, which may clean caches or call other programs.
func (a *apt) writeConfig(ctx context.Context) error {
	acquire, err := readAcquire(ctx)
	if err != nil {
		return err
	}
	config := acquire + fmt.Sprintf(`
Dir::Etc::main "/dev/null";
Dir::Etc::parts "/dev/null";
Dir::Etc::preferences "/dev/null";
Dir::Etc::preferencesparts "/dev/null";
Dir::Etc::sourceparts "/dev/null";
Dir::Etc::sourcelist %q;
Dir::State::lists %q;
Dir::Cache %q;
Debug::NoLocking "true";
APT::Sandbox::User "root";
`, a.path("etc/sources.list"), a.path("lists")+"/", a.path("cache")+"/")
	return os.WriteFile(a.path("etc/apt.conf"), []byte(config), 0o644)
}

func (a *apt) path(name string) string { return filepath.Join(a.dir, name) }

// update downloads the mirrors' package lists if the last download is older than an hour.
func (a *apt) update(ctx context.Context) error {
	stamp := a.path("updated")
	if info, err := os.Stat(stamp); err == nil && time.Since(info.ModTime()) < listsAge {
		return nil
	}
	// By default apt reports success even if a mirror does not respond.
	if err := a.run(ctx, "-o", "APT::Update::Error-Mode=any", "update"); err != nil {
		return err
	}
	return os.WriteFile(stamp, nil, 0o644)
}

// fetch downloads the packages and their dependencies into dir, and returns the sorted file names. It leaves out the
// packages in without, and packages that only they depend on.
func (a *apt) fetch(ctx context.Context, dir string, packages, without []string) ([]string, error) {
	if err := a.update(ctx); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Join(dir, "partial"), 0o755); err != nil {
		return nil, err
	}
	status := filepath.Join(dir, "status")
	if err := os.WriteFile(status, []byte(pretendInstalled(without)), 0o644); err != nil {
		return nil, err
	}
	args := []string{"-o", "Dir::State::status=" + status, "-o", "Dir::Cache::archives=" + dir + "/",
		"--yes", "--no-install-recommends", "--download-only", "install"}
	if err := a.run(ctx, append(args, packages...)...); err != nil {
		return nil, err
	}
	return filepath.Glob(filepath.Join(dir, "*.deb"))
}

// pretendInstalled returns a dpkg status file that lists the packages as installed, so that apt does not download them.
// The version satisfies every ordinary dependency, and Multi-Arch "allowed" satisfies dependencies on NAME:any.
func pretendInstalled(packages []string) string {
	var status strings.Builder
	for _, name := range packages {
		fmt.Fprintf(&status, "Package: %s\nStatus: install ok installed\nVersion: 9999\nArchitecture: all\n"+
			"Multi-Arch: allowed\nMaintainer: none\nDescription: left out of the image\n\n", name)
	}
	return status.String()
}

func (a *apt) run(ctx context.Context, args ...string) error {
	cmd := exec.CommandContext(ctx, "apt-get", append([]string{"--quiet=2"}, args...)...)
	cmd.Env = append(os.Environ(), "APT_CONFIG="+a.path("etc/apt.conf"), "LC_ALL=C", "DEBIAN_FRONTEND=noninteractive")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("apt-get %s for %s: %w\n%s", strings.Join(args, " "), a.suite, err, out)
	}
	return nil
}
