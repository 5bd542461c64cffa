// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// hostCertificates is the path at which Debian's package ca-certificates stores the trusted root certificates. Go
// programs look for certificates at this path.
const hostCertificates = "/etc/ssl/certs/ca-certificates.crt"

// BinaryImage describes an image that only contains static binaries.
type BinaryImage struct {
	Tags []string
	// Binaries are given as PATH or PATH=DEST, where DEST is the path in the image.
	Binaries []string
	// Certificates adds the host's trusted certificates, for binaries that
	// call services outside the cluster.
	Certificates bool
	Config       Config
}

// tree returns the files of the image. Without a configured entrypoint, the image starts its first binary.
func (b *BinaryImage) tree() (*Tree, error) {
	if len(b.Binaries) == 0 {
		return nil, fmt.Errorf("name at least one binary for the image")
	}
	tree := NewTree()
	tree.addAccounts()
	for _, binary := range b.Binaries {
		source, dest := splitBinary(binary)
		if err := tree.AddFile(dest, source, 0o755); err != nil {
			return nil, err
		}
		if len(b.Config.Entrypoint) == 0 {
			b.Config.Entrypoint = []string{dest}
		}
	}
	if !b.Certificates {
		return tree, nil
	}
	return tree, tree.addCertificates()
}

// splitBinary splits PATH[=DEST]. Without DEST, the binary is in the root directory.
func splitBinary(binary string) (source, dest string) {
	source, dest, found := strings.Cut(binary, "=")
	if !found {
		dest = filepath.Base(source)
	}
	return source, path.Clean("/" + dest)
}

// addAccounts adds /etc/passwd and /etc/group, in which a process looks up its own user, and a directory for temporary
// files.
func (t *Tree) addAccounts() {
	t.AddContent("etc/passwd", []byte(`root:x:0:0:root:/root:/sbin/nologin
nobody:x:65534:65534:nobody:/nonexistent:/sbin/nologin
nonroot:x:65532:65532:nonroot:/home/nonroot:/sbin/nologin
`), 0o644)
	t.AddContent("etc/group", []byte("root:x:0:\nnogroup:x:65534:\nnonroot:x:65532:\n"), 0o644)
	t.AddDir("root", 0o700)
	t.put("home/nonroot", entry{kind: '5', mode: 0o700, uid: 65532, gid: 65532})
	t.AddDir("tmp", 0o1777)
}

func (t *Tree) addCertificates() error {
	content, err := os.ReadFile(hostCertificates)
	if err != nil {
		return fmt.Errorf("add trusted certificates (install Debian's package ca-certificates): %w", err)
	}
	t.AddContent(hostCertificates, content, 0o644)
	return nil
}

// Write builds the image and saves it as a tar file at output.
func (b BinaryImage) Write(output string) error {
	tree, err := b.tree()
	if err != nil {
		return err
	}
	image, err := Build(tree, b.Config)
	if err != nil {
		return err
	}
	return Save(image, b.Tags, output)
}
