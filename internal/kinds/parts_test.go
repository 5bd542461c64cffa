// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package kinds

import (
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/opcrew/opcrew/internal/kinds/memcached"
	"github.com/opcrew/opcrew/internal/kit"
)

// guide is the page that describes the parts of a kind.
const guide = "docs/add-a-kind.md"

// Steps of the guide.
const (
	api   = "API of the new kind"
	tests = "Tests of the new kind"
	docs  = "Docs of the new kind"
)

// part is a file that a kind needs outside its package, or an entry in a file that all kinds share.
type part struct {
	// file is the path of the file, or a pattern. One of several files that match the pattern must have the text.
	file string
	// text is the entry of the kind in the file. If it is empty, the file must only exist.
	text string
	// step of the guide describes the part.
	step string
}

// faultTests names the test in test/faults that also covers another kind.
var faultTests = map[string]string{"EtcdRestore": "EtcdBackup"}

// parts returns all parts of the kind that a CRD defines.
func parts(name string, crd *apiextensionsv1.CustomResourceDefinition, rules bool) []part {
	kind, plural := crd.Spec.Names.Kind, crd.Spec.Names.Plural
	faults := kind
	if other, ok := faultTests[kind]; ok {
		faults = other
	}
	list := []part{
		{"PROJECT", "    kind: " + kind + "\n", api},
		{"config/crd/kustomization.yaml", "bases/" + crd.Spec.Group + "_" + plural + ".yaml\n", api},
		{"config/users/" + name + ".yaml", "", api},
		{"config/users/kustomization.yaml", "- " + name + ".yaml\n", api},
		{"test/fields/rows/" + name + ".yaml", "kind: " + kind + "\n", tests},
		{"test/e2e/testdata/mutations/" + kind + ".yaml", "kind: " + kind + "\n", tests},
		{"test/faults/parts", "\n" + faults + " ", tests},
		{"docs/" + name + ".md", "", docs},
		{"README.md", "[" + kind + "](docs/" + name + ".md)", docs},
		{"docs/samples.md", name + ".yaml` |", docs},
		{"docs/deviations.md", "\n## " + kind + "\n", docs},
	}
	if rules {
		list = append(list, part{"test/crds/testdata/" + plural + "/accept/*.yaml", "kind: " + kind + "\n", tests})
		list = append(list, part{"test/crds/testdata/" + plural + "/refuse/*.yaml", "kind: " + kind + "\n", tests})
	}
	if crd.Spec.Scope == apiextensionsv1.NamespaceScoped {
		list = append(list, part{"test/namespaced/testdata/objects.yaml", "\nkind: " + kind + "\n", tests})
	}
	return list
}

// partsOf reads the CRD of a kind, and returns all parts of the kind. The registration may also list CRDs of kinds that
// the kind reads.
func partsOf(t *testing.T, files fs.FS, kind kit.Registration) []part {
	t.Helper()
	for _, name := range kind.CRDs {
		plural, group, _ := strings.Cut(name, ".")
		raw, err := fs.ReadFile(files, "config/crd/bases/"+group+"_"+plural+".yaml")
		if err != nil {
			t.Fatalf("%s: %v; run make manifests", kind.Name, err)
		}
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.Unmarshal(raw, crd); err != nil {
			t.Fatal(err)
		}
		if strings.ToLower(crd.Spec.Names.Kind) == kind.Name {
			return parts(kind.Name, crd, strings.Contains(string(raw), "x-kubernetes-validations"))
		}
	}
	t.Fatalf("%s: no CRD in its registration defines a kind of this name; a registration has the name of its kind in lower case", kind.Name)
	return nil
}

// missing returns an error if the part is missing in the files.
func (p part) missing(files fs.FS) error {
	found, err := fs.Glob(files, p.file)
	if err != nil {
		return err
	}
	has := func(file string) bool {
		text, err := fs.ReadFile(files, file)
		return err == nil && strings.Contains(string(text), p.text)
	}
	switch {
	case len(found) == 0:
		return fmt.Errorf("%s is missing; write it as %s says under %q", p.file, guide, p.step)
	case !slices.ContainsFunc(found, has):
		return fmt.Errorf("%s has no entry %q; add it as %s says under %q", p.file, strings.TrimSpace(p.text), guide, p.step)
	}
	return nil
}

func TestEveryKindHasAllItsParts(t *testing.T) {
	root := os.DirFS("../..")
	for _, kind := range All() {
		for _, p := range partsOf(t, root, kind) {
			if err := p.missing(root); err != nil {
				t.Errorf("%s: %v", kind.Name, err)
			}
		}
	}
}

func TestAMissingPartIsReportedWithItsFileAndStep(t *testing.T) {
	root := os.DirFS("../..")
	text, err := fs.ReadFile(root, guide)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range partsOf(t, root, memcached.Kind()) {
		without := fstest.MapFS{}
		if err := p.missing(without); err == nil || !strings.Contains(err.Error(), p.file+" is missing") || !strings.Contains(err.Error(), p.step) {
			t.Errorf("%s does not exist: expected an error with its name and the step %q, got %v", p.file, p.step, err)
		}
		files, err := fs.Glob(root, p.file)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			content, err := fs.ReadFile(root, file)
			if err != nil {
				t.Fatal(err)
			}
			without[file] = &fstest.MapFile{Data: []byte(strings.ReplaceAll(string(content), p.text, "\n"))}
		}
		if err := p.missing(without); p.text != "" && (err == nil || !strings.Contains(err.Error(), p.file+" has no entry")) {
			t.Errorf("%s without %q: expected an error that says so, got %v", p.file, p.text, err)
		}
		if !strings.Contains(string(text), "**"+p.step+"**") {
			t.Errorf("expected the step %q in %s", p.step, guide)
		}
	}
}
