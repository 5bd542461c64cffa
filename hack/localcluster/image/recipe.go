// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"

	"github.com/opcrew/opcrew/hack/localcluster/state"
)

// Recipe describes an image that is built from Debian packages.
type Recipe struct {
	Name string `json:"name"`
	// Summary is a one-line description for the list of images.
	Summary string `json:"-"`
	// Suite is Debian's code name; empty means the host's suite.
	Suite string `json:"suite,omitempty"`
	// Series is the prefix of the first package's versions in the suite, usually the minor version. With it, a request
	// for a tag with another version fails at once, without a download of Debian's package lists. Series is empty if
	// the versions in the suite change.
	Series string `json:"-"`
	// Packages are the packages in the image, in addition to their dependencies. The first one determines the image's
	// version.
	Packages []string `json:"packages"`
	// Without lists dependencies that the image leaves out, because only the installation of a package needs them.
	Without []string `json:"without,omitempty"`
	// Tags may contain {version} (1.6.18) and {minor} (1.6).
	Tags []string `json:"tags"`
	// Applets is the path of a program with many names, such as busybox. Each name that `PROGRAM --list` prints becomes
	// a link.
	Applets string `json:"applets,omitempty"`
	// Accounts are the lines of /etc/passwd that a package's installation script would add.
	Accounts []string `json:"accounts,omitempty"`
	// Links maps paths of the upstream image to the programs of the Debian packages.
	Links map[string]string `json:"links,omitempty"`
	// Files maps paths to contents. These files replace the files of the packages.
	Files  map[string]string `json:"files,omitempty"`
	Config Config            `json:"config"`
}

// Write downloads the packages and saves the image as a tar file at output. work is a folder that keeps apt's package
// lists between calls.
func (r Recipe) Write(ctx context.Context, work, output string) error {
	archives, err := os.MkdirTemp("", r.Name+"-")
	if err != nil {
		return fmt.Errorf("create a folder for packages: %w", err)
	}
	defer os.RemoveAll(archives)
	debs, err := r.fetch(ctx, filepath.Join(work, "apt"), archives)
	if err != nil {
		return err
	}
	tree, err := r.tree(ctx, debs)
	if err != nil {
		return fmt.Errorf("image %s: %w", r.Name, err)
	}
	image, err := Build(tree, r.Config)
	if err != nil {
		return err
	}
	version, err := r.version(ctx, debs)
	if err != nil {
		return err
	}
	return Save(image, r.tags(version), output)
}

// fetch downloads the packages into archives. It takes a lock, because apt's own locks are disabled here.
func (r Recipe) fetch(ctx context.Context, aptDir, archives string) ([]string, error) {
	unlock, err := state.Lock(ctx, aptDir, func() {})
	if err != nil {
		return nil, err
	}
	defer unlock()
	apt, err := newApt(ctx, aptDir, r.Suite)
	if err != nil {
		return nil, err
	}
	return apt.fetch(ctx, archives, r.Packages, r.Without)
}

// tree returns the files of the packages, and the accounts and links that installation scripts would create.
func (r Recipe) tree(ctx context.Context, debs []string) (*Tree, error) {
	tree := NewTree()
	tree.addAccounts()
	for _, deb := range debs {
		if err := tree.addPackage(ctx, deb); err != nil {
			return nil, err
		}
	}
	tree.MergeUsr()
	if err := tree.addAccountLines(r.Accounts); err != nil {
		return nil, err
	}
	for name, content := range r.Files {
		tree.AddContent(clean(name), []byte(content), 0o644)
	}
	for name, target := range r.Links {
		tree.AddLink(clean(name), target)
	}
	if r.Applets == "" {
		return tree, nil
	}
	return tree, tree.addApplets(ctx, r.Applets)
}

// version returns the upstream version of the first package.
func (r Recipe) version(ctx context.Context, debs []string) (string, error) {
	for _, deb := range debs {
		if strings.HasPrefix(filepath.Base(deb), r.Packages[0]+"_") {
			return packageVersion(ctx, deb)
		}
	}
	return "", fmt.Errorf("image %s: apt fetched no package %s", r.Name, r.Packages[0])
}

func (r Recipe) tags(version string) []string {
	fill := strings.NewReplacer("{version}", version, "{minor}", minorVersion(version))
	var tags []string
	for _, tag := range r.Tags {
		tags = append(tags, fill.Replace(tag))
	}
	return tags
}

// addAccountLines adds lines to /etc/passwd. For each account it also adds a group with the same ID.
func (t *Tree) addAccountLines(lines []string) error {
	for _, line := range lines {
		fields := strings.Split(line, ":")
		if len(fields) != 7 {
			return fmt.Errorf("account %q is not a line of /etc/passwd", line)
		}
		if err := t.appendLine("etc/passwd", line); err != nil {
			return err
		}
		if err := t.appendLine("etc/group", fields[0]+":x:"+fields[3]+":"); err != nil {
			return err
		}
	}
	return nil
}

func (t *Tree) appendLine(file, line string) error {
	content, err := t.Read(file)
	if err != nil {
		return err
	}
	t.AddContent(file, append(content, line+"\n"...), 0o644)
	return nil
}

// addApplets adds a link to the program for each of its applets, such as ls in busybox. It gets the applets from the
// program's option --list, so that the links match the version of the program.
func (t *Tree) addApplets(ctx context.Context, program string) error {
	content, err := t.Read("usr/" + clean(program))
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "applets-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, path.Base(program))
	if err := os.WriteFile(file, content, 0o700); err != nil {
		return err
	}
	names, err := exec.CommandContext(ctx, file, "--list").Output()
	if err != nil {
		return fmt.Errorf("list the applets of %s: %w", program, err)
	}
	for name := range strings.FieldsSeq(string(names)) {
		link := path.Join("usr", path.Dir(program), path.Base(name))
		if !t.Has(link) {
			t.AddLink(link, path.Base(program))
		}
	}
	return nil
}
