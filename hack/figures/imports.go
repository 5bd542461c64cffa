// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

const module = "github.com/opcrew/opcrew/"

// layer is a folder of the repository. below lists the folders that its packages may import.
type layer struct {
	path  string
	below []string
}

// picture is the diagram in docs/architecture.md as text: each line names a folder and the folders that it may import.
// If several lines match a folder, the first line applies.
const picture = `
cmd/opcrew-agent:    internal/agents internal/podapi
cmd/opcrew-backup:    internal/agents internal/podapi
cmd/opcrew-machine:   internal/agents
cmd/opcrew:           internal/outside internal/portforward internal/kinds internal/kit api
internal/outside:     internal/kit
internal/kinds:       internal/nodedrain internal/workload internal/backuppod internal/podtemplate internal/schedule internal/kit internal/guard internal/stores internal/podapi internal/jsonpatch api applyconfigurations
internal/nodedrain:   internal/workload internal/kit internal/podapi api
internal/workload:    internal/podtemplate internal/kit internal/guard internal/jsonpatch api
internal/backuppod:   internal/podapi api
internal/podtemplate: api
internal/agents:      internal/stores/redis/clusternodes internal/stores/redis/elections internal/podapi internal/jsonpatch
internal/stores:
internal/kit:         internal/guard api
internal/guard:       api
internal/schedule:
internal/jsonpatch:
internal/portforward:
internal/podapi:
api:
`

func layers() []layer {
	var out []layer
	for line := range strings.Lines(strings.TrimSpace(picture)) {
		path, below, _ := strings.Cut(line, ":")
		out = append(out, layer{path, strings.Fields(below)})
	}
	return out
}

// printImports prints each import of production code that the layers forbid, and returns the number of these imports.
func printImports(out io.Writer, root string) (int, error) {
	wrong := 0
	for _, top := range []string{"cmd", "internal", "api"} {
		err := filepath.WalkDir(filepath.Join(root, top), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || isTestHelper(path) {
				return err
			}
			refused, err := refusedImports(path)
			for _, imported := range refused {
				fmt.Fprintf(out, "%s imports %s, which docs/architecture.md does not allow\n", path, imported)
			}
			wrong += len(refused)
			return err
		})
		if err != nil {
			return 0, fmt.Errorf("read imports: %w", err)
		}
	}
	return wrong, nil
}

// isTestHelper reports whether a file belongs to a package that only tests import, such as one whose name ends in
// "test".
func isTestHelper(path string) bool {
	folder := filepath.Base(filepath.Dir(path))
	return strings.HasSuffix(folder, "test") || folder == "integration" || folder == "redissim"
}

func refusedImports(path string) ([]string, error) {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
	if err != nil {
		return nil, err
	}
	var refused []string
	for _, spec := range file.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return nil, err
		}
		if own, is := strings.CutPrefix(imported, module); is && !allowed(filepath.ToSlash(filepath.Dir(path)), own) {
			refused = append(refused, own)
		}
	}
	return refused, nil
}

// allowed reports whether packages in the first folder (from) may import packages in the second (to). The second folder
// must be in the same layer as the first, or in a lower one. Kinds must not import each other, because they communicate
// through the Kubernetes API. Only the list of kinds, internal/kinds itself, imports them all.
func allowed(from, to string) bool {
	known := layers()
	i := slices.IndexFunc(known, func(l layer) bool { return within(from, l.path) })
	if i < 0 {
		return false
	}
	if within(to, known[i].path) {
		return known[i].path != "internal/kinds" || from == "internal/kinds" || kind(from) == kind(to)
	}
	return slices.ContainsFunc(known[i].below, func(path string) bool { return within(to, path) })
}

func within(folder, path string) bool { return folder == path || strings.HasPrefix(folder, path+"/") }

// kind returns the part of a path after internal/kinds, which names the kind of custom resource.
func kind(folder string) string { return strings.SplitN(folder+"///", "/", 4)[2] }
