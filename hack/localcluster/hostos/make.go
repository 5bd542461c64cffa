// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package hostos

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/opcrew/opcrew/hack/localcluster/image"
	"github.com/opcrew/opcrew/hack/localcluster/state"
)

// builder is the Debian package, and the program in it, that makes a Debian system.
const builder = "mmdebstrap"

// Make returns the path of a tar file with the operating system. It builds the file if the cache does not have it, which
// takes one to several minutes.
func Make(ctx context.Context) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find the user's cache folder for the operating system of nodes: %w", err)
	}
	dir := filepath.Join(cache, "opcrew", "hostos")
	unlock, err := state.Lock(ctx, dir, func() {})
	if err != nil {
		return "", err
	}
	defer unlock()
	mirrors, err := image.ReadMirrors(ctx)
	if err != nil {
		return "", err
	}
	output := filepath.Join(dir, "debian-"+key(mirrors)+".tar")
	if _, err := os.Stat(output); err == nil {
		return output, nil
	}
	if err := installBuilder(ctx); err != nil {
		return "", err
	}
	return output, build(ctx, mirrors, output)
}

// key changes when the tree would be built in another way.
func key(mirrors image.Mirrors) string {
	parts := [][]string{packages(), dpkgOptions(), hooks(), {mirrors.Suite}}
	return fmt.Sprintf("%x", sha256.Sum256(fmt.Append(nil, parts)))[:16]
}

// installBuilder installs the builder if this machine does not have it.
func installBuilder(ctx context.Context) error {
	if _, err := exec.LookPath(builder); err == nil {
		return nil
	}
	for _, args := range [][]string{{"update"}, {"install", "--yes", "--no-install-recommends", builder}} {
		cmd := exec.CommandContext(ctx, "apt-get", append([]string{"--quiet=2"}, args...)...)
		cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("install the package %[1]s (or run apt-get install %[1]s yourself): %[2]w\n%[3]s", builder, err, out)
		}
	}
	return nil
}

func build(ctx context.Context, mirrors image.Mirrors, output string) error {
	work, err := os.MkdirTemp(filepath.Dir(output), "build-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	sources, settings := filepath.Join(work, "sources.list"), filepath.Join(work, "apt.conf")
	err = errors.Join(
		os.WriteFile(sources, []byte(mirrors.Sources), 0o644),
		os.WriteFile(settings, []byte(mirrors.Settings), 0o644))
	if err != nil {
		return err
	}
	// Rename only a complete file, because the cache trusts every file that exists.
	temporary := filepath.Join(work, "tree.tar")
	cmd := exec.CommandContext(ctx, builder, arguments(mirrors.Suite, temporary, sources, settings)...)
	cmd.Env = append(os.Environ(), "TMPDIR="+work)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build the operating system of nodes with %s: %w\n%s", builder, err, tail(string(out), 20))
	}
	return os.Rename(temporary, output)
}

func arguments(suite, output, sources, settings string) []string {
	args := []string{"--mode=root", "--variant=essential", "--include=" + strings.Join(packages(), ","), "--aptopt=" + settings}
	for _, option := range dpkgOptions() {
		args = append(args, "--dpkgopt="+option)
	}
	for _, hook := range hooks() {
		args = append(args, "--customize-hook="+hook)
	}
	return append(args, suite, output, sources)
}

func tail(text string, lines int) string {
	all := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}
