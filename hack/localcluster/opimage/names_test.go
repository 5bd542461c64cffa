// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package opimage

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const digest = "@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

func TestTheOtherImagesAreNamedAfterTheOperators(t *testing.T) {
	for given, want := range map[string]Images{
		"opcrew/opcrew:dev":                      {"opcrew/opcrew:dev", "opcrew/opcrew-agent:dev", "opcrew/opcrew-backup:dev"},
		"registry.example.com:5000/team/op:v1":   {"registry.example.com:5000/team/op:v1", "registry.example.com:5000/team/op-agent:v1", "registry.example.com:5000/team/op-backup:v1"},
		"registry.example.com:5000/team/op":      {"registry.example.com:5000/team/op:latest", "registry.example.com:5000/team/op-agent:latest", "registry.example.com:5000/team/op-backup:latest"},
		"registry.example.com/a/b/c/opcrew:v1.2": {"registry.example.com/a/b/c/opcrew:v1.2", "registry.example.com/a/b/c/opcrew-agent:v1.2", "registry.example.com/a/b/c/opcrew-backup:v1.2"},
		"user/name:tag":                          {"user/name:tag", "user/name-agent:tag", "user/name-backup:tag"},
		"user/name":                              {"user/name:latest", "user/name-agent:latest", "user/name-backup:latest"},
		"name":                                   {"name:latest", "name-agent:latest", "name-backup:latest"},
		"name:v1":                                {"name:v1", "name-agent:v1", "name-backup:v1"},
		"localhost/op:v1":                        {"localhost/op:v1", "localhost/op-agent:v1", "localhost/op-backup:v1"},
		"localhost:5000/op":                      {"localhost:5000/op:latest", "localhost:5000/op-agent:latest", "localhost:5000/op-backup:latest"},
		"127.0.0.1:5000/op:v1":                   {"127.0.0.1:5000/op:v1", "127.0.0.1:5000/op-agent:v1", "127.0.0.1:5000/op-backup:v1"},
		"[::1]:5000/op:v1":                       {"[::1]:5000/op:v1", "[::1]:5000/op-agent:v1", "[::1]:5000/op-backup:v1"},
		"Registry/op:v1":                         {"Registry/op:v1", "Registry/op-agent:v1", "Registry/op-backup:v1"},
		"docker.io/user/name:tag":                {"docker.io/user/name:tag", "docker.io/user/name-agent:tag", "docker.io/user/name-backup:tag"},
	} {
		got, err := Named(given, "", "")
		if err != nil || got != want {
			t.Errorf("IMG=%s: expected %+v, got %+v (%v)", given, want, got, err)
		}
	}
}

func TestNamesThatAreGivenAreKept(t *testing.T) {
	got, err := Named("user/op:v1", "registry.example.com/agent:v2", "")
	if want := (Images{"user/op:v1", "registry.example.com/agent:v2", "user/op-backup:v1"}); err != nil || got != want {
		t.Errorf("expected %+v, got %+v (%v)", want, got, err)
	}
	got, err = Named("user/op:v1"+digest, "user/agent"+digest, "user/op-backup:v1")
	if want := (Images{"user/op:v1" + digest, "user/agent" + digest, "user/op-backup:v1"}); err != nil || got != want {
		t.Errorf("expected the digests to be kept, %+v, got %+v (%v)", want, got, err)
	}
}

func TestNamesAreRefusedWithWhatToWriteInstead(t *testing.T) {
	for title, c := range map[string]struct {
		operator, agent, backup string
		says                    []string
	}{
		"empty":                           {"", "", "", []string{"IMG=", "[registry[:port]/]path[:tag]"}},
		"capital letters":                 {"user/Name:v1", "", "", []string{"IMG=user/Name:v1", "lower case"}},
		"a scheme":                        {"https://registry.example.com/op:v1", "", "", []string{"IMG=https://", "[registry[:port]/]path[:tag]"}},
		"two tags":                        {"user/name:v1:v2", "", "", []string{"IMG=user/name:v1:v2"}},
		"64 hexadecimal digits":           {strings.Repeat("ab", 32), "", "", []string{"hexadecimal"}},
		"a wrong agent":                   {"user/name:v1", "user/Agent", "", []string{"AGENT_IMG=user/Agent"}},
		"a digest alone":                  {"user/name" + digest, "", "", []string{"give AGENT_IMG and BACKUP_IMG too"}},
		"a digest without the backup":     {"user/name" + digest, "user/agent" + digest, "", []string{"give AGENT_IMG and BACKUP_IMG too"}},
		"two images of one name":          {"user/name:v1", "user/name:v1", "", []string{"IMG and AGENT_IMG are both user/name:v1", "three names"}},
		"one name written in two ways":    {"user/name:v1", "", "docker.io/user/name:v1", []string{"IMG and BACKUP_IMG are both"}},
		"one name, the tag left out":      {"user/name:latest", "user/name", "", []string{"IMG and AGENT_IMG are both"}},
		"a derived name that is too long": {"user/" + strings.Repeat("n", 245), "", "", []string{"AGENT_IMG="}},
	} {
		t.Run(title, func(t *testing.T) {
			got, err := Named(c.operator, c.agent, c.backup)
			if err == nil {
				t.Fatalf("expected the names to be refused, got %+v", got)
			}
			for _, want := range c.says {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("expected the refusal to say %q, got: %v", want, err)
				}
			}
		})
	}
}

func TestADigestCanBeDeployedAndNotBuilt(t *testing.T) {
	images, err := Named("user/op"+digest, "user/agent:v1"+digest, "user/backup:v1")
	if err != nil {
		t.Fatalf("expected three given names to be enough to deploy by digest: %v", err)
	}
	err = images.Buildable()
	if err == nil || !strings.Contains(err.Error(), "write IMG=user/op:v1") {
		t.Errorf("expected a build to be refused with what to write instead, got: %v", err)
	}
}

func TestOnlyTheProjectsOwnDevelopmentNamesAreLocal(t *testing.T) {
	for image, want := range map[string]bool{
		"opcrew.invalid/opcrew:dev":          true,
		"opcrew.invalid/opcrew-agent:dev-01": true,
		"opcrew.invalid/other:dev":           false,
		"opcrew.invalid/opcrew:v1":           false,
		"opcrew/opcrew:dev":                  true,
		"opcrew/opcrew-agent:dev-0123456789": true,
		"opcrew/opcrew-backup:dev":           true,
		"opcrew/opcrew:v1":                   false,
		"opcrew/opcrew":                      false,
		"opcrew/other:dev":                   false,
		"docker.io/opcrew/opcrew:dev":        false,
		"user/name:dev":                      false,
		"registry:5000/opcrew/opcrew:dev":    false,
		"opcrew/opcrew:dev" + digest:         false,
	} {
		if got := Local(image); got != want {
			t.Errorf("%s: expected it to go to the local cluster: %t, got %t", image, want, got)
		}
	}
}

func TestManifestsNameAllThreeImages(t *testing.T) {
	const before = "      image: opcrew.invalid/opcrew:dev\n      - --agent-image=opcrew.invalid/opcrew-agent:dev\n      - --backup-image=opcrew.invalid/opcrew-backup:dev\n      image: opcrew.invalid/opcrew:dev\n"
	const after = "      image: user/op@sha256:1\n      - --agent-image=h:5000/agent:v1\n      - --backup-image=[::1]:5000/b:v1\n      image: user/op@sha256:1\n"
	got, err := Images{"user/op@sha256:1", "h:5000/agent:v1", "[::1]:5000/b:v1"}.InManifests(before)
	if err != nil || got != after {
		t.Errorf("expected\n%sgot\n%s(%v)", after, got, err)
	}
	if got, err := (Images{"[::1]:5000/op:v1", "h", "b"}).InManifests(before); err != nil || !strings.Contains(got, `image: "[::1]:5000/op:v1"`) {
		t.Errorf("expected a name that begins with a bracket in quotes, got\n%s(%v)", got, err)
	}
	if _, err := (Images{"a", "b", "c"}).InManifests("image: opcrew.invalid/opcrew:dev\n"); err == nil {
		t.Error("expected an error where the manifests name no agent")
	}
}

// root is the path of the repository's root, relative to this package.
const root = "../../.."

// Committed files must not name images in a public registry. Otherwise, if no one owns such a name yet, the first
// person to register the name could run code in clusters.
func TestWhatIsCommittedNamesNoRegistryThatCanExist(t *testing.T) {
	image := regexp.MustCompile(`(?m)(?:image: |-image=|Image += ")"?([^\s",\]]+)`)
	for _, file := range []string{
		"dist/install.yaml", "config/manager/deployment.yaml", "cmd/opcrew/flags.go",
		"config/layers/machines/kustomization.yaml", "config/layers/applications/kustomization.yaml", "config/layers/data/kustomization.yaml",
	} {
		content, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			t.Fatal(err)
		}
		found := image.FindAllStringSubmatch(string(content), -1)
		if len(found) == 0 {
			t.Errorf("%s: expected the names of images", file)
		}
		for _, name := range found {
			if ours := strings.Contains(name[1], "opcrew"); ours && !strings.HasPrefix(name[1], "opcrew.invalid/") {
				t.Errorf("%s: expected opcrew's own image in the registry opcrew.invalid, which cannot exist, got %s", file, name[1])
			}
		}
	}
}
