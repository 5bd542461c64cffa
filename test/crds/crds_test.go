// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package crds

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"

	mcfgv1 "github.com/opcrew/opcrew/api/machineconfiguration/v1"
	"github.com/opcrew/opcrew/internal/kinds"
	"github.com/opcrew/opcrew/test/testenv"
)

var env *testenv.Env

func TestMain(m *testing.M) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, kinds.AddToScheme, mcfgv1.AddToScheme} {
		if err := add(scheme); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	testenv.Run(m, &env, testenv.Options{
		CRDs:          []string{testenv.ProjectCRDs, testenv.MachineConfigCRDs, "test/crds/testdata/widgets/crd.yaml"},
		Scheme:        scheme,
		NoControllers: true,
	})
}

func TestManifestsAreAcceptedAndRefusedAsTheTableSays(t *testing.T) {
	dirs, err := folders()
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range dirs {
		rows, err := readRows(filepath.Join("testdata", kind))
		if err != nil {
			t.Error(err)
		}
		for _, r := range rows {
			t.Run(kind+"/"+r.name, func(t *testing.T) {
				for _, w := range ways {
					if err := w.check(t.Context(), env.Client, r); err != nil {
						t.Errorf("%s: %v", w.name, err)
					}
				}
			})
		}
	}
}

// A row that expects the wrong result (accept instead of refuse, or the reverse) must fail, in whichever way the test
// sends the manifest. Otherwise the tests could not detect a wrong CRD.
func TestRowsWithTheWrongVerdictFail(t *testing.T) {
	rows, err := readRows("testdata/widgets")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		complaint := "but accepts it"
		if r.want == "" {
			r.want, r.wantApply = "no such message", "no such message"
		} else {
			r.want, r.wantApply = "", ""
			complaint = "but refuses it"
		}
		for _, w := range ways {
			if err := w.check(t.Context(), env.Client, r); err == nil || !strings.Contains(err.Error(), complaint) {
				t.Errorf("%s, %s: expected an error that contains %q, got %v", r.name, w.name, complaint, err)
			}
		}
	}
}

func TestARefusalWithAnotherMessageFails(t *testing.T) {
	rows, err := readRows("testdata/widgets")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		if r.want == "" {
			continue
		}
		r.want, r.wantApply = "another message", "another message"
		for _, w := range ways {
			if err := w.check(t.Context(), env.Client, r); err == nil || !strings.Contains(err.Error(), `"another message"`) {
				t.Errorf("%s, %s: expected an error about the message, got %v", r.name, w.name, err)
			}
		}
	}
}

func TestFilesThatProveNothingAreRefused(t *testing.T) {
	widget := "apiVersion: harness.opcrew.io/v1\nkind: Widget\nmetadata: {name: a}\n"
	for _, test := range []struct{ name, file, content, want string }{
		{"a refusal without a message", "refuse/a.yaml", widget, "needs a line `# want:"},
		{"an acceptance with a message", "accept/a.yaml", "# want: x\n" + widget, "a manifest that must be accepted cannot have"},
		{"half an update", "accept/a.yaml", "# update\n" + widget, "needs pairs of documents"},
		{"only comments", "accept/a.yaml", "# nothing\n", "the file contains no object"},
		{"not a manifest", "accept/a.yaml", "a: [", "a.yaml"},
		{"a file of another type", "refuse/a.yml", widget, "a.yml would be overlooked"},
		{"no rows", "elsewhere/a.yaml", widget, "has no rows"},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			file := filepath.Join(dir, test.file)
			if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(test.content), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := readRows(dir); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("expected an error with %q, got %v", test.want, err)
			}
		})
	}
}
