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
var faultTests = map[string]string{"EtcdRestore": "EtcdBackup", "MachineConfigPool": "MachineConfig"}

// pages returns the parts that a registration needs once, whatever the number of its CRDs.
func pages(name, kind string) []part {
	return []part{
		{"docs/" + name + ".md", "", docs},
		{"README.md", "[" + kind + "](docs/" + name + ".md)", docs},
		{"docs/deviations.md", "\n## " + kind + "\n", docs},
	}
}

// installation returns the parts with which the CRD and the rights of users are installed.
func installation(registration kit.Registration, crd *apiextensionsv1.CustomResourceDefinition) []part {
	bases := "bases/" + crd.Spec.Group + "_" + crd.Spec.Names.Plural + ".yaml\n"
	if registration.OptIn {
		folder := "config/" + registration.Name
		return []part{
			{folder + "/kustomization.yaml", bases, api},
			{folder + "/users.yaml", crd.Spec.Names.Plural, api},
			{folder + "/kustomization.yaml", "- users.yaml\n", api},
		}
	}
	return []part{
		{"config/crd/kustomization.yaml", bases, api},
		{"config/users/" + registration.Name + ".yaml", "", api},
		{"config/users/kustomization.yaml", "- " + registration.Name + ".yaml\n", api},
	}
}

// parts returns the parts that the kind that a CRD defines needs. rules is set if the CRD has CEL rules.
func parts(registration kit.Registration, crd *apiextensionsv1.CustomResourceDefinition, rules bool) []part {
	kind, plural := crd.Spec.Names.Kind, crd.Spec.Names.Plural
	name, faults := strings.ToLower(kind), kind
	if other, ok := faultTests[kind]; ok {
		faults = other
	}
	list := append(installation(registration, crd),
		part{"PROJECT", "    kind: " + kind + "\n", api},
		part{"test/fields/rows/" + name + ".yaml", "kind: " + kind + "\n", tests},
		part{"test/e2e/testdata/mutations/" + kind + ".yaml", "kind: " + kind + "\n", tests},
		part{"test/faults/parts", "\n" + faults + " ", tests},
		part{"docs/samples.md", name + ".yaml` |", docs},
	)
	if rules {
		list = append(list, part{"test/crds/testdata/" + plural + "/accept/*.yaml", "kind: " + kind + "\n", tests})
		list = append(list, part{"test/crds/testdata/" + plural + "/refuse/*.yaml", "kind: " + kind + "\n", tests})
	}
	if crd.Spec.Scope == apiextensionsv1.NamespaceScoped {
		list = append(list, part{"test/namespaced/testdata/objects.yaml", "\nkind: " + kind + "\n", tests})
	}
	return list
}

// partsOf reads the CRDs of a registration, and returns all parts of the kinds that they define. The CRDs of an opt-in
// registration are all its own; another registration may also list CRDs of kinds that its kind reads.
func partsOf(t *testing.T, files fs.FS, registration kit.Registration) []part {
	t.Helper()
	var out []part
	named := false
	for _, name := range registration.CRDs {
		crd, rules := readCRD(t, files, registration, name)
		isNamed := strings.ToLower(crd.Spec.Names.Kind) == registration.Name
		if isNamed || registration.OptIn {
			out = append(out, parts(registration, crd, rules)...)
		}
		if isNamed {
			named = true
			out = append(out, pages(registration.Name, crd.Spec.Names.Kind)...)
		}
	}
	if !named {
		t.Fatalf("%s: no CRD in its registration defines a kind of this name; a registration has the name of its kind in lower case", registration.Name)
	}
	return out
}

// readCRD reads a generated CRD, and reports whether it has CEL rules.
func readCRD(t *testing.T, files fs.FS, registration kit.Registration, name string) (*apiextensionsv1.CustomResourceDefinition, bool) {
	t.Helper()
	folder := "config/crd"
	if registration.OptIn {
		folder = "config/" + registration.Name
	}
	plural, group, _ := strings.Cut(name, ".")
	raw, err := fs.ReadFile(files, folder+"/bases/"+group+"_"+plural+".yaml")
	if err != nil {
		t.Fatalf("%s: %v; run make manifests", registration.Name, err)
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.Unmarshal(raw, crd); err != nil {
		t.Fatal(err)
	}
	return crd, strings.Contains(string(raw), "x-kubernetes-validations")
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
