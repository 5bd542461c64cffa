// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"context"
	"embed"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// pins contains a go.mod and a go.sum for each release, which pin the release and all its dependencies. The files have
// other names, because Go cannot embed the files of a nested module.
//
//go:embed modules
var pins embed.FS

// Module describes an image whose programs are built from a release of a Go module.
type Module struct {
	Name    string
	Summary string
	// Path is the path of the module that determines the image's version.
	Path string
	// Programs maps paths in the image to the packages from which they are built.
	Programs map[string]string
	// Tags may contain {version}.
	Tags   []string
	Config Config
}

// Modules returns the images that are built from Go modules, under their upstream names.
func Modules() []Module {
	var all []Module
	for _, minor := range []string{"3.5", "3.6", "3.7"} {
		all = append(all, etcdModule(minor))
	}
	return all
}

// etcdModule returns the image for a minor version of etcd, in the release that modules/ pins. etcd 3.4 is not a usable
// Go module, so its image is built from Debian packages.
func etcdModule(minor string) Module {
	return Module{
		Name:    "etcd-" + minor,
		Summary: "etcd " + minor + " and etcdctl as upstream's modules build them",
		Path:    "go.etcd.io/etcd/server/v3",
		Programs: map[string]string{
			"/usr/local/bin/etcd":    "go.etcd.io/etcd/server/v3",
			"/usr/local/bin/etcdctl": "go.etcd.io/etcd/etcdctl/v3",
		},
		Tags:   []string{"quay.io/coreos/etcd:v{version}"},
		Config: Config{Entrypoint: []string{"/usr/local/bin/etcd"}, User: "0:0"},
	}
}

// Source returns the module as an entry of the catalogue.
func (m Module) Source() Source {
	return Source{Name: m.Name, Summary: m.Summary, Tool: ToolGo, Tags: m.tags(), content: []any{m, m.pin("mod"), m.pin("sum")}, write: m.Write}
}

func (m Module) pin(suffix string) string {
	content, err := pins.ReadFile("modules/" + m.Name + "." + suffix)
	if err != nil {
		panic(err) // cannot happen: the file is embedded, and a test reads it
	}
	return string(content)
}

// version returns the module's pinned version without the leading v.
func (m Module) version() string {
	found := regexp.MustCompile(regexp.QuoteMeta(m.Path) + ` v(\S+)`).FindStringSubmatch(m.pin("mod"))
	if found == nil {
		return ""
	}
	return found[1]
}

func (m Module) tags() []string {
	var tags []string
	for _, tag := range m.Tags {
		tags = append(tags, strings.ReplaceAll(tag, "{version}", m.version()))
	}
	return tags
}

// Write builds the programs and saves the image as a tar.
func (m Module) Write(ctx context.Context, _, output string) error {
	dir, err := os.MkdirTemp("", m.Name+"-")
	if err != nil {
		return fmt.Errorf("create a folder for programs: %w", err)
	}
	defer os.RemoveAll(dir)
	for name, content := range map[string]string{"go.mod": m.pin("mod"), "go.sum": m.pin("sum")} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			return err
		}
	}
	image := BinaryImage{Tags: m.tags(), Config: m.Config}
	for _, path := range slices.Sorted(maps.Keys(m.Programs)) {
		binary := filepath.Join(dir, filepath.Base(path))
		if err := build(ctx, dir, m.Programs[path], binary); err != nil {
			return fmt.Errorf("image %s: %w", m.Name, err)
		}
		image.Binaries = append(image.Binaries, binary+"="+path)
	}
	return image.Write(output)
}

// build builds a static program from a package that the module in dir pins.
func build(ctx context.Context, dir, pkg, output string) error {
	cmd := exec.CommandContext(ctx, "go", "build", "-buildvcs=false", "-trimpath", "-ldflags", "-s -w", "-o", output, pkg)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s: %w\n%s", pkg, err, out)
	}
	return nil
}
