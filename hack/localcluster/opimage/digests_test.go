// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package opimage

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// manifests is part of the manifests of an installation, with the default image names.
const manifests = "      image: " + defaultOperator + "\n      - --agent-image=" + defaultAgent + "\n      - --backup-image=" + defaultBackup + "\n"

// pushedTo builds three images and pushes them to the test registry at host.
func pushedTo(t *testing.T, host, bin string) (images Images, install string) {
	t.Helper()
	images, err := Named(host+"/team/op:v1", "", "")
	if err != nil {
		t.Fatal(err)
	}
	if err := images.Build(bin); err != nil {
		t.Fatal(err)
	}
	p := pusher(io.Discard)
	p.Manifests, p.Install = filepath.Join(bin, "source.yaml"), filepath.Join(bin, "install.yaml")
	if err := os.WriteFile(p.Manifests, []byte(manifests), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := p.Push(t.Context(), images, bin); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(p.Install)
	if err != nil {
		t.Fatalf("expected a push to write the manifests to install: %v", err)
	}
	return images, string(content)
}

func TestAPushWritesManifestsThatNameAllImagesByDigest(t *testing.T) {
	bin := programs(t)
	_, install := pushedTo(t, startRegistry(t), bin)
	named := regexp.MustCompile(`(?:image: |-image=)(\S+)`).FindAllStringSubmatch(install, -1)
	if len(named) != 3 {
		t.Fatalf("expected three images, got\n%s", install)
	}
	for i, p := range (Images{}).list() {
		if got := named[i][1]; !strings.Contains(got, "@sha256:") || strings.Contains(got, ":v1") {
			t.Errorf("expected %s by digest, got %s", p.program, got)
		} else if content := pulled(t, got, p.program); content != "program "+p.program {
			t.Errorf("%s: expected the program %s at this digest, got %q", got, p.program, content)
		}
	}
}

func TestADeploymentAfterAPushRunsWhatWasPushedAlsoIfTheTagWasMoved(t *testing.T) {
	host, bin, log := startRegistry(t), programs(t), &bytes.Buffer{}
	images, install := pushedTo(t, host, bin)
	other, err := random.Image(64, 1)
	if err != nil {
		t.Fatal(err)
	}
	ref, err := name.ParseReference(images.Operator)
	if err != nil {
		t.Fatal(err)
	}
	if err := remote.Write(ref, other); err != nil {
		t.Fatal(err)
	}
	pinned, err := images.Pinned(t.Context(), bin, log)
	if err != nil || log.Len() > 0 {
		t.Fatalf("expected digests without a warning, got %q (%v)", log, err)
	}
	if got, err := pinned.InManifests(manifests); err != nil || got != install {
		t.Errorf("expected the images of the push, not what the tag is now:\n%s\ngot\n%s(%v)", install, got, err)
	}
}

func TestAnImageKeepsItsTagWithAReasonWhereNoDigestIsKnown(t *testing.T) {
	host, bin := startRegistry(t), programs(t)
	images, _ := pushedTo(t, host, bin)
	never, _ := Named(host+"/team/other:v1", "", "")
	gone, _ := Named(host+"/team/op:v1", "", "")
	for title, c := range map[string]struct {
		images Images
		bin    string
		says   string
	}{
		"never pushed":                 {never, bin, "was not pushed from here"},
		"pushed from elsewhere":        {images, t.TempDir(), "was not pushed from here"},
		"deleted in the registry":      {gone, withRecord(t, gone, host), "is deployed by its tag"},
		"a registry that is away":      {Images{"127.0.0.1:1/a:v1", "127.0.0.1:1/b:v1", "127.0.0.1:1/c:v1"}, withRecord(t, Images{"127.0.0.1:1/a:v1", "127.0.0.1:1/b:v1", "127.0.0.1:1/c:v1"}, "127.0.0.1:1"), "connection refused"},
		"of the local cluster":         {Images{defaultOperator, defaultAgent, defaultBackup}, bin, ""},
		"by a digest that a user gave": {Images{"a" + digest, "b" + digest, "c" + digest}, bin, ""},
	} {
		t.Run(title, func(t *testing.T) {
			log := &bytes.Buffer{}
			got, err := c.images.Pinned(t.Context(), c.bin, log)
			if err != nil || got != c.images {
				t.Errorf("expected the names to stay, got %+v (%v)", got, err)
			}
			if !strings.Contains(log.String(), c.says) || (c.says == "") != (log.Len() == 0) {
				t.Errorf("expected a warning that says %q, got %q", c.says, log)
			}
		})
	}
}

// withRecord returns a folder that records a push, although the registry does not have the pushed images.
func withRecord(t *testing.T, images Images, host string) string {
	t.Helper()
	bin, digests := t.TempDir(), map[string]string{}
	for _, p := range images.list() {
		digests[p.name] = host + "/gone" + digest
	}
	if err := keepDigests(bin, images, digests); err != nil {
		t.Fatal(err)
	}
	return bin
}

func TestAnImageThatWentToTheLocalClusterIsNotDeployedByAnEarlierDigest(t *testing.T) {
	host, bin, log := startRegistry(t), programs(t), &bytes.Buffer{}
	images, _ := pushedTo(t, host, bin)
	p := Pusher{To: ToLocal, Out: io.Discard, Load: func(context.Context, []string) error { return nil }}
	if err := p.Push(t.Context(), images, bin); err != nil {
		t.Fatal(err)
	}
	if got, err := images.Pinned(t.Context(), bin, log); err != nil || got != images {
		t.Errorf("expected the names that the nodes have, got %+v (%v)", got, err)
	}
}
