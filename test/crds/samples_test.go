// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package crds

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/opcrew/opcrew/test/testenv"
	"github.com/opcrew/opcrew/test/testenv/manifest"
)

// samples reads the manifests in a folder below config/samples. If folder is "", it reads those in config/samples
// itself.
func samples(t *testing.T, folder string) []manifest.Document {
	t.Helper()
	docs, err := manifest.Read(filepath.Join(env.Root, "config", "samples", folder))
	if err != nil {
		t.Fatal(err)
	}
	if len(docs) == 0 {
		t.Fatalf("expected manifests in config/samples/%s", folder)
	}
	return docs
}

// The test checks samples as strictly as the manifests in testdata. It leaves out objects of Kubernetes' core group:
// whether the server accepts, for example, a PersistentVolumeClaim depends on other objects in the cluster.
func TestSamplesAndArticlesAreAccepted(t *testing.T) {
	for _, folder := range []string{"", "restore", "machineconfig", "articles", "articles/plain"} {
		for _, doc := range samples(t, folder) {
			if doc.Object.GroupVersionKind().Group == "" {
				continue
			}
			doc.Object.SetNamespace("") // the namespace of the sample does not exist in this test
			for _, w := range ways {
				if err := w.check(t.Context(), env.Client, row{name: doc.String(), obj: doc.Object}); err != nil {
					t.Errorf("%s/%s, %s: %v", folder, doc, w.name, err)
				}
			}
		}
	}
}

func TestTheCatalogueHasASampleOfEveryKind(t *testing.T) {
	crds, err := manifest.Read(filepath.Join(env.Root, testenv.ProjectCRDs), filepath.Join(env.Root, testenv.MachineConfigCRDs))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]bool{}
	for _, crd := range crds {
		kind, _, err := unstructured.NestedString(crd.Object.Object, "spec", "names", "kind")
		if err != nil {
			t.Fatal(err)
		}
		want[kind] = true
	}
	got := map[string]bool{}
	for _, doc := range slices.Concat(samples(t, ""), samples(t, "restore"), samples(t, "machineconfig")) {
		if kind := doc.Object.GetKind(); want[kind] {
			got[kind] = true
		}
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(got))); diff != "" {
		t.Errorf("expected a sample of every kind (-kinds +samples):\n%s", diff)
	}
}

// kubectl applies the files of a folder in alphabetical order and does not wait between them. So no object may require
// that an object in a later file exists.
func TestTheSamplesCanBeAppliedAtOnce(t *testing.T) {
	namespaces := map[string]bool{"": true}
	for _, doc := range samples(t, "") {
		o := doc.Object
		if !namespaces[o.GetNamespace()] {
			t.Errorf("%s: no earlier file creates namespace %s", doc, o.GetNamespace())
		}
		switch o.GetKind() {
		case "Namespace":
			namespaces[o.GetName()] = true
		case "Pod":
			t.Errorf("%s: the API server refuses a Pod until the operator has created its RuntimeClass; use a Deployment, which retries", doc)
		case "EtcdRestore":
			t.Errorf("%s: a restore replaces data, so it must not be in a folder that users apply as a whole", doc)
		}
	}
}

func TestSamplePoolsCloseNoNode(t *testing.T) {
	for _, doc := range samples(t, "") {
		if doc.Object.GetKind() != "NodePool" {
			continue
		}
		taints, _, err := unstructured.NestedSlice(doc.Object.Object, "spec", "taints")
		if err != nil {
			t.Fatal(err)
		}
		for _, taint := range taints {
			if effect := taint.(map[string]any)["effect"]; effect != "PreferNoSchedule" {
				t.Errorf("%s: the taint %v closes one of three nodes to all other workloads", doc, effect)
			}
		}
	}
}

func TestTheArticlesManifestsAreWordForWord(t *testing.T) {
	dir := filepath.Join(env.Root, "config", "samples", "articles")
	sums, err := os.ReadFile(filepath.Join(dir, "SHA256SUMS"))
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&got, "%x  %s\n", sha256.Sum256(text), filepath.Base(file))
	}
	if diff := cmp.Diff(string(sums), got.String()); diff != "" {
		t.Errorf("the manifest of an article has changed; put changed samples into config/samples instead (-SHA256SUMS +files):\n%s", diff)
	}
}

func TestThePlainCopiesSayTheSameWithoutComments(t *testing.T) {
	articles, plain := samples(t, "articles"), samples(t, "articles/plain")
	if len(articles) != len(plain) {
		t.Fatalf("expected as many plain copies as articles, there are %d of %d", len(plain), len(articles))
	}
	for i, doc := range articles {
		if doc.String() != plain[i].String() {
			t.Fatalf("expected a plain copy of %s, got %s", doc, plain[i])
		}
		if diff := cmp.Diff(doc.Object.Object, plain[i].Object.Object); diff != "" {
			t.Errorf("the plain copy of %s differs:\n%s", doc, diff)
		}
		text, err := os.ReadFile(filepath.Join(env.Root, "config", "samples", "articles", "plain", doc.File))
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(text, []byte("#")) {
			t.Errorf("the plain copy of %s has a comment", doc)
		}
	}
}
