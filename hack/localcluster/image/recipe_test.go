// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"archive/tar"
	"slices"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

func TestVersionsLoseWhatDebianAdds(t *testing.T) {
	cases := map[string][2]string{
		"1:1.35.0-4+deb12u1+b1": {"1.35.0", "1.35"},
		"1.6.18-1+deb12u1":      {"1.6.18", "1.6"},
		"3.5.16-4":              {"3.5.16", "3.5"},
		"1.6.20~ds1-1+deb12u3":  {"1.6.20", "1.6"},
		"5:7.0.15-1~deb12u5":    {"7.0.15", "7.0"},
		"8.1.1+dfsg1-3":         {"8.1.1", "8.1"},
		"9":                     {"9", "9"},
	}
	for debian, want := range cases {
		version := upstreamVersion(debian)
		if got := [2]string{version, minorVersion(version)}; got != want {
			t.Errorf("%s gives %v, want %v", debian, got, want)
		}
	}
}

func TestRecipesAreTaggedWithTrueVersionsOnly(t *testing.T) {
	for _, recipe := range Recipes() {
		for _, tag := range recipe.Tags {
			_, version, _ := strings.Cut(tag, ":")
			if !slices.Contains([]string{"{version}", "v{version}", "{minor}"}, version) {
				t.Errorf("%s: tag %s does not follow the package", recipe.Name, tag)
			}
		}
		if err := checkTags(recipe.tags("1.2.3")); err != nil {
			t.Errorf("%s: %v", recipe.Name, err)
		}
		if found, err := FindRecipe(recipe.Name); err != nil || found.Name != recipe.Name {
			t.Errorf("%s is not found by its name: %v", recipe.Name, err)
		}
	}
	if _, err := FindRecipe("nothing"); err == nil || !strings.Contains(err.Error(), "busybox") {
		t.Errorf("an unknown name gives %v, want a list of what there is", err)
	}
}

const hostTargets = `http://mirror.example/debian/ bookworm main
http://mirror.example/debian/ bookworm-updates main
http://mirror.example/security/ bookworm-security main
http://mirror.example/debian/ bookworm contrib
http://other.example/pg/ bookworm-pgdg main
http://other.example/node/ nodistro main
`

func TestSourcesOfTheHostsSuiteAreItsDebianMirrors(t *testing.T) {
	got := sourceList(hostTargets, "bookworm", "bookworm")
	want := `deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://mirror.example/debian/ bookworm main
deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://mirror.example/debian/ bookworm-updates main
deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://mirror.example/security/ bookworm-security main
`
	if got != want {
		t.Errorf("got:\n%swant:\n%s", got, want)
	}
}

func TestSourcesOfAnotherSuiteComeFromTheMainMirror(t *testing.T) {
	got := sourceList(hostTargets, "bookworm", "sid")
	want := "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://mirror.example/debian/ sid main\n"
	if got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestPackagesComeWithoutDocumentationButWithLicences(t *testing.T) {
	cases := map[string]bool{
		"usr/bin/memcached":                    true,
		"usr/share/doc/memcached/copyright":    true,
		"usr/share/doc/memcached/changelog.gz": false,
		"usr/share/man":                        false,
		"lib/systemd/system/x.service":         false,
	}
	for name, want := range cases {
		if wanted(name) != want {
			t.Errorf("%s: wanted is %t, want %t", name, !want, want)
		}
	}
}

func TestPackageMembersKeepModesOwnersAndSecondNames(t *testing.T) {
	tree := NewTree()
	headers := []*tar.Header{
		{Typeflag: tar.TypeReg, Name: "./usr/bin/a", Mode: 0o4755, Gid: 42},
		{Typeflag: tar.TypeLink, Name: "./usr/bin/b", Linkname: "./usr/bin/a"},
		{Typeflag: tar.TypeChar, Name: "./dev/null"},
	}
	for _, header := range headers {
		if err := tree.addHeader(header, strings.NewReader("program")); err != nil {
			t.Fatal(err)
		}
	}
	a, b := tree.entries["usr/bin/a"], tree.entries["usr/bin/b"]
	if a.mode != 0o4755 || a.gid != 42 || b.size != 7 {
		t.Errorf("a: mode %o group %d; b: size %d", a.mode, a.gid, b.size)
	}
	if tree.Has("dev/null") {
		t.Error("a device node is in the image")
	}
	dangling := &tar.Header{Typeflag: tar.TypeLink, Name: "c", Linkname: "nowhere"}
	if err := tree.addHeader(dangling, nil); err == nil {
		t.Error("a second name of nothing was taken")
	}
}

func TestAccountsOfPackagesComeWithAGroupEach(t *testing.T) {
	tree := NewTree()
	tree.addAccounts()
	if err := tree.addAccountLines(memcached().Accounts); err != nil {
		t.Fatal(err)
	}
	group, err := tree.Read("etc/group")
	if err != nil || !slices.Contains(strings.Split(string(group), "\n"), "memcache:x:11211:") {
		t.Errorf("groups %q, %v", group, err)
	}
	if err := tree.addAccountLines([]string{"broken"}); err == nil {
		t.Error("a broken line was taken")
	}
}

func TestLinksOfARecipeLeadToWhatItsPackagesHave(t *testing.T) {
	tree, err := etcd().tree(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if e := tree.entries["usr/local/bin/etcd"]; e.link != "/usr/bin/etcd" {
		t.Errorf("etcd is started by upstream's path, which leads to %q", e.link)
	}
}

func TestFilesOfARecipeTakeThePlaceOfThoseOfItsPackages(t *testing.T) {
	tree, err := nginx().tree(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if content, err := tree.Read("etc/nginx/nginx.conf"); err != nil || !strings.Contains(string(content), "listen 80;") {
		t.Errorf("expected the configuration of nginx to have its port, got %q (%v)", content, err)
	}
	if got := nginx().Config.file(&v1.ConfigFile{}).Config.StopSignal; got != "SIGQUIT" {
		t.Errorf("expected nginx to be ended by SIGQUIT, which lets it finish its answers, got %q", got)
	}
}
