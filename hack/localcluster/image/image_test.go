// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/validate"
)

// sample returns an image with one binary, which it creates in a temporary folder.
func sample(t *testing.T) BinaryImage {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "opcrew")
	if err := os.WriteFile(binary, []byte("not really a program"), 0o700); err != nil {
		t.Fatal(err)
	}
	return BinaryImage{
		Tags:     []string{"example.com/opcrew:v1", "example.com/opcrew:dev"},
		Binaries: []string{binary + "=/usr/bin/opcrew"},
		Config:   Config{User: "65532:65532"},
	}
}

func TestBinaryImageIsTheSameByteForByte(t *testing.T) {
	image, dir := sample(t), t.TempDir()
	var archives [][]byte
	for _, file := range []string{"first.tar", "second.tar"} {
		if err := image.Write(filepath.Join(dir, file)); err != nil {
			t.Fatal(err)
		}
		content, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			t.Fatal(err)
		}
		archives = append(archives, content)
		slices.Reverse(image.Tags)
	}
	if !bytes.Equal(archives[0], archives[1]) {
		t.Error("two builds of the same input differ")
	}
}

func TestBinaryImageIsValidUnderEveryTag(t *testing.T) {
	image, output := sample(t), filepath.Join(t.TempDir(), "image.tar")
	if err := image.Write(output); err != nil {
		t.Fatal(err)
	}
	for _, text := range image.Tags {
		tag, err := name.NewTag(text)
		if err != nil {
			t.Fatal(err)
		}
		got, err := tarball.ImageFromPath(output, &tag)
		if err != nil {
			t.Fatalf("read %s back: %v", text, err)
		}
		if err := validate.Image(got); err != nil {
			t.Errorf("%s is not a valid image: %v", text, err)
		}
		file, err := got.ConfigFile()
		if err != nil {
			t.Fatal(err)
		}
		if file.OS != "linux" || file.Architecture == "" || file.Config.User != "65532:65532" ||
			!slices.Equal(file.Config.Entrypoint, []string{"/usr/bin/opcrew"}) || file.Config.Env[0] != defaultPath {
			t.Errorf("config of %s: %+v", text, file)
		}
	}
}

func TestBinaryImageHoldsTheBinaryAndAnAccountToRunAs(t *testing.T) {
	image := sample(t)
	tree, err := image.tree()
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"usr/bin/opcrew", "etc/passwd", "etc/group", "tmp", "home/nonroot"} {
		if !tree.Has(path) {
			t.Errorf("no %s in the image", path)
		}
	}
	if tree.Has(hostCertificates) {
		t.Error("certificates are there without being asked for")
	}
}

func TestSaveRefusesUselessTags(t *testing.T) {
	for _, tags := range [][]string{nil, {"busybox"}, {"Busy Box:1"}, {"busybox:1.35", "a:"}} {
		if err := checkTags(tags); err == nil {
			t.Errorf("tags %q were taken", tags)
		}
	}
	if err := checkTags([]string{"busybox:1.35", "registry.k8s.io/pause:3.10.2", "localhost:5000/crew:v1"}); err != nil {
		t.Errorf("good tags were refused: %v", err)
	}
}

func TestBinaryNamesItsPlace(t *testing.T) {
	cases := map[string]string{"bin/opcrew": "/opcrew", "bin/opcrew=/usr/bin/crew": "/usr/bin/crew", "x=y": "/y"}
	for in, want := range cases {
		if _, dest := splitBinary(in); dest != want {
			t.Errorf("%s goes to %s, want %s", in, dest, want)
		}
	}
}

func TestCacheBuildsOnceAndAgainWhenTheBinaryChanged(t *testing.T) {
	image, cache := sample(t), Cache{Dir: t.TempDir()}
	first, err := cache.Binary(image)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := cache.Binary(image); err != nil || again != first {
		t.Errorf("second build: %s, %v; want %s", again, err, first)
	}
	source, _ := splitBinary(image.Binaries[0])
	if err := os.WriteFile(source, []byte("changed"), 0o600); err != nil {
		t.Fatal(err)
	}
	if changed, err := cache.Binary(image); err != nil || changed == first {
		t.Errorf("after a change: %s, %v; want another file", changed, err)
	}
}
