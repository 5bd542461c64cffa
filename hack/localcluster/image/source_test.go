// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/validate"
)

func tagOf(t *testing.T, text string) name.Tag {
	t.Helper()
	tag, err := name.NewTag(text)
	if err != nil {
		t.Fatal(err)
	}
	return tag
}

func TestTheCatalogueKnowsAtOnceWhatItCannotHave(t *testing.T) {
	cases := map[string]string{
		"docker.io/library/nginx:1.26":             "nginx",
		"nginx:1.26.3":                             "nginx",
		"nginx:1.7.9":                              "",
		"nginx:1.260":                              "",
		"nginx:latest":                             "",
		"nginx":                                    "",
		"quay.io/library/nginx:1.26":               "",
		"example.com/nginx:1.26":                   "",
		"memcached:1.6.38":                         "memcached",
		"docker.io/valkey/valkey:8.1":              "valkey",
		"redislabs/redis:5.4.0-19":                 "",
		"redis:7.0":                                "",
		"quay.io/coreos/etcd:v3.4.23":              "etcd",
		"quay.io/coreos/etcd:v3.6.16":              "etcd-3.6",
		"quay.io/coreos/etcd:3.6.16":               "",
		"quay.io/coreos/etcd:v3.6.1":               "",
		"quay.io/coreos/etcd:v3.1.10":              "",
		"coreos/etcd:v3.6.16":                      "",
		"diva-client:10.0p1":                       "diva-client",
		"diva-client:v0.0.1":                       "",
		"docker.io/opcrew/valkey:9.1":              "valkey9",
		"docker.io/valkey/valkey:9.1":              "valkey9",
		"docker.io/valkey/valkey:7.2":              "",
		"registry.example.com/opcrew/redis:7.0.15": "",
	}
	for text, want := range cases {
		got := ""
		if found := Offering(Sources(), tagOf(t, text)); len(found) == 1 {
			got = found[0].Name
		} else if len(found) > 1 {
			t.Errorf("%s is offered by %d sources, expected one at most", text, len(found))
		}
		if got != want {
			t.Errorf("%s is offered by %q, expected %q", text, got, want)
		}
	}
}

func TestASourceIsFoundByItsNameOrByATag(t *testing.T) {
	for _, text := range []string{"etcd-3.6", "quay.io/coreos/etcd:v3.6.16"} {
		if source, err := FindSource(text); err != nil || source.Name != "etcd-3.6" {
			t.Errorf("%s gives %q, %v; expected etcd-3.6", text, source.Name, err)
		}
	}
	if _, err := FindSource("nginx:1.7.9"); err == nil || !strings.Contains(err.Error(), "image catalog") {
		t.Errorf("expected an unknown tag to lead to the list of the catalogue, got %v", err)
	}
}

func TestNamesOfSourcesDiffer(t *testing.T) {
	seen := map[string]bool{}
	for _, source := range Sources() {
		if seen[source.Name] {
			t.Errorf("two sources are called %s", source.Name)
		}
		seen[source.Name] = true
		if source.Tool == "" || source.Summary == "" || len(source.Tags) == 0 {
			t.Errorf("%s does not say what it is: %+v", source.Name, source)
		}
	}
}

func TestASavedImageIsOpenedUnderItsOwnTagsOnly(t *testing.T) {
	image, output := sample(t), filepath.Join(t.TempDir(), "image.tar")
	image.Tags = []string{"crew:1.2.3", "crew:1.2"}
	if err := image.Write(output); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]bool{"docker.io/library/crew:1.2.3": true, "crew:1.2": true, "crew:1.2.4": false, "quay.io/crew:1.2": false} {
		img, has, err := Open(output, tagOf(t, text))
		if err != nil || has != want {
			t.Errorf("%s: has is %t, %v; expected %t", text, has, err, want)
		}
		if has {
			if err := validate.Image(img); err != nil {
				t.Errorf("%s is no valid image: %v", text, err)
			}
		}
	}
}

func TestModulesAreTaggedWithTheReleaseThatTheyPin(t *testing.T) {
	for _, module := range Modules() {
		mod := module.pin("mod")
		for _, tag := range module.tags() {
			_, version, _ := strings.Cut(tag, ":v")
			for _, pkg := range module.Programs {
				if !strings.Contains(mod, "\t"+pkg+" v"+version+" ") {
					t.Errorf("%s: tag %s is not the release of %s in modules/%s.mod", module.Name, tag, pkg, module.Name)
				}
			}
		}
		if err := checkTags(module.tags()); err != nil {
			t.Errorf("%s: %v", module.Name, err)
		}
	}
}

func TestTheCacheFindsWhatWasBuilt(t *testing.T) {
	cache := Cache{Dir: t.TempDir()}
	source := Recipe{Name: "crew", Tags: []string{"crew:{version}"}}.Source()
	if file, err := cache.Built(source); err != nil || file != "" {
		t.Errorf("before the build there is %q, %v", file, err)
	}
	binary := sample(t)
	source.write = func(_ context.Context, _, output string) error { return binary.Write(output) }
	made, err := cache.Source(t.Context(), source)
	if err != nil {
		t.Fatal(err)
	}
	if file, err := cache.Built(source); err != nil || file != made {
		t.Errorf("after the build there is %q, %v; expected %s", file, err, made)
	}
}
