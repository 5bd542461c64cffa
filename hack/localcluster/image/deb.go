// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
)

// undocumented returns the folders of a package that images leave out. Copyright files stay, because licenses require
// them.
func undocumented() []string {
	return []string{
		"usr/include/", "usr/share/doc/", "usr/share/man/", "usr/share/info/", "usr/share/locale/",
		"usr/share/lintian/", "usr/share/bash-completion/", "usr/share/bug/", "lib/systemd/", "usr/lib/systemd/system/",
	}
}

// addPackage adds the files of a .deb to the tree. It does not run the package's scripts. The recipe lists what these
// scripts would create.
func (t *Tree) addPackage(ctx context.Context, deb string) error {
	cmd := exec.CommandContext(ctx, "dpkg-deb", "--fsys-tarfile", deb)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("unpack %s: %w", filepath.Base(deb), err)
	}
	readErr := t.readTar(out)
	// Read the remaining output, so that dpkg-deb does not fail with a broken pipe.
	_, _ = io.Copy(io.Discard, out)
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("unpack %s: %w: %s", filepath.Base(deb), err, stderr.String())
	}
	if readErr != nil {
		return fmt.Errorf("unpack %s: %w", filepath.Base(deb), readErr)
	}
	return nil
}

func (t *Tree) readTar(r io.Reader) error {
	in := tar.NewReader(r)
	for {
		header, err := in.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if wanted(clean(header.Name)) {
			if err := t.addHeader(header, in); err != nil {
				return err
			}
		}
	}
}

// wanted reports whether an image needs a file of a package. Images leave out documentation, but not copyright files.
func wanted(name string) bool {
	if strings.HasPrefix(name, "usr/share/doc/") && strings.HasSuffix(name, "/copyright") {
		return true
	}
	for _, dir := range undocumented() {
		if strings.HasPrefix(name+"/", dir) {
			return false
		}
	}
	return true
}

// addHeader adds one file of a package. It leaves out device nodes, because the container runtime creates them.
func (t *Tree) addHeader(header *tar.Header, content io.Reader) error {
	e := entry{kind: header.Typeflag, mode: header.Mode & 0o7777, uid: header.Uid, gid: header.Gid, link: header.Linkname}
	switch header.Typeflag {
	case tar.TypeDir, tar.TypeSymlink:
	case tar.TypeLink:
		target, found := t.entries[clean(header.Linkname)]
		if !found {
			return fmt.Errorf("%s is a hard link to %s, which the package does not contain", header.Name, header.Linkname)
		}
		e = target
	case tar.TypeReg:
		data, err := io.ReadAll(content)
		if err != nil {
			return err
		}
		e.size = int64(len(data))
		e.open = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }
	default:
		return nil
	}
	t.put(header.Name, e)
	return nil
}

// packageVersion returns the version that a .deb declares.
func packageVersion(ctx context.Context, deb string) (string, error) {
	out, err := exec.CommandContext(ctx, "dpkg-deb", "--field", deb, "Version").Output()
	if err != nil {
		return "", fmt.Errorf("read the version of %s: %w", filepath.Base(deb), err)
	}
	return upstreamVersion(strings.TrimSpace(string(out))), nil
}

// upstreamVersion removes what Debian adds to a version: the epoch, its own revision, and the suffix of a repackaged
// source.
func upstreamVersion(debian string) string {
	if _, rest, found := strings.Cut(debian, ":"); found {
		debian = rest
	}
	if i := strings.LastIndex(debian, "-"); i >= 0 {
		debian = debian[:i]
	}
	upstream, _, _ := strings.Cut(debian, "+")
	upstream, _, _ = strings.Cut(upstream, "~")
	return upstream
}

// minorVersion returns the first two numbers of a version, which replace {minor} in tags. A tag with {minor} rarely
// changes, so documentation can name it.
func minorVersion(version string) string {
	parts := strings.SplitN(version, ".", 3)
	return strings.Join(parts[:min(2, len(parts))], ".")
}
