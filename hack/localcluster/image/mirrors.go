// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
)

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

// hostSuite returns the code name of this machine's Debian release.
func hostSuite() (string, error) {
	content, err := os.ReadFile("/etc/os-release")
	if err != nil {
		return "", fmt.Errorf("find out the Debian release of this machine: %w", err)
	}
	for line := range strings.Lines(string(content)) {
		if value, found := strings.CutPrefix(line, "VERSION_CODENAME="); found {
			return strings.Trim(strings.TrimSpace(value), `"`), nil
		}
	}
	return "", fmt.Errorf("find out the Debian release of this machine: /etc/os-release has no VERSION_CODENAME")
}

// readSources returns the mirrors for the suite, as the host's configuration lists them.
func readSources(ctx context.Context, host, suite string) (string, error) {
	format := "$(REPO_URI) $(RELEASE) $(COMPONENT)"
	out, err := exec.CommandContext(ctx, "apt-get", "indextargets", "--format", format, "Created-By: Packages").Output()
	if err != nil {
		return "", fmt.Errorf("read the host's apt mirrors: %w", err)
	}
	sources := sourceList(string(out), host, suite)
	if sources == "" {
		return "", fmt.Errorf("the host's apt sources contain no mirror of Debian %s (main)", host)
	}
	return sources, nil
}

// sourceList selects Debian's own mirrors from lines of "URI RELEASE COMPONENT". For a suite other than the host's, it
// selects only the main release, because sid has no update releases, and test images do not need them.
func sourceList(targets, host, suite string) string {
	releases := []string{host, host + "-updates", host + "-security"}
	if suite != host {
		releases = releases[:1]
	}
	var lines []string
	for line := range strings.Lines(targets) {
		fields := strings.Fields(line)
		if len(fields) != 3 || fields[2] != "main" || !slices.Contains(releases, fields[1]) {
			continue
		}
		release := suite + strings.TrimPrefix(fields[1], host)
		lines = append(lines, fmt.Sprintf("deb [signed-by=%s] %s %s main\n", debianKeyring, fields[0], release))
	}
	slices.Sort(lines)
	return strings.Join(slices.Compact(lines), "")
}

// readAcquire returns the host's settings for reaching mirrors.
func readAcquire(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "apt-config", "dump", "--format", `%F "%v";%n`, "Acquire").Output()
	if err != nil {
		return "", fmt.Errorf("read the host's apt settings: %w", err)
	}
	return string(out), nil
}
