// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package opimage

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// programs creates a folder with the programs of the images. They differ in content.
func programs(t *testing.T) string {
	t.Helper()
	bin := t.TempDir()
	for _, p := range (Images{}).list() {
		for _, program := range p.programs() {
			if err := os.WriteFile(filepath.Join(bin, program), []byte("program "+program), 0o700); err != nil {
				t.Fatal(err)
			}
		}
	}
	return bin
}

// startRegistry serves a registry over plain HTTP on a loopback port.
func startRegistry(t *testing.T) (host string) {
	t.Helper()
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

// pusher returns a Pusher without a local cluster.
func pusher(out io.Writer) Pusher {
	return Pusher{To: ToAuto, Out: out, Load: func(context.Context, []string) error { return errors.New("no local cluster runs") }}
}

func TestThreeImagesArriveInARegistryWithAPort(t *testing.T) {
	host, bin, out := startRegistry(t), programs(t), &bytes.Buffer{}
	for _, given := range []string{host + "/team/op:v1", host + "/opcrew", "localhost:" + strings.Split(host, ":")[1] + "/a/b/opcrew:v2"} {
		images, err := Named(given, "", "")
		if err != nil {
			t.Fatal(err)
		}
		if err := images.Build(bin); err != nil {
			t.Fatal(err)
		}
		if err := pusher(out).Push(t.Context(), images, bin); err != nil {
			t.Fatalf("IMG=%s: %v", given, err)
		}
		for _, p := range images.list() {
			if got := pulled(t, p.name, p.program); got != "program "+p.program {
				t.Errorf("%s: expected the program %s in it, got %q", p.name, p.program, got)
			}
		}
	}
}

func TestWhatWasPushedCanBeDeployedByTheDigestsThatArePrinted(t *testing.T) {
	host, bin, out := startRegistry(t), programs(t), &bytes.Buffer{}
	images, err := Named(host+"/team/op:v1", "", "")
	if err != nil {
		t.Fatal(err)
	}
	if err := images.Build(bin); err != nil {
		t.Fatal(err)
	}
	if err := pusher(out).Push(t.Context(), images, bin); err != nil {
		t.Fatal(err)
	}
	given := map[string]string{}
	for word := range strings.FieldsSeq(out.String()) {
		if variable, value, ok := strings.Cut(word, "="); ok {
			given[variable] = value
		}
	}
	byDigest, err := Named(given["IMG"], given["AGENT_IMG"], given["BACKUP_IMG"])
	if err != nil {
		t.Fatalf("expected names to deploy by, printed was\n%s%v", out, err)
	}
	for _, p := range byDigest.list() {
		if got := pulled(t, p.name, p.program); got != "program "+p.program || !strings.Contains(p.name, "@sha256:") {
			t.Errorf("%s: expected the program %s at this digest, got %q", p.name, p.program, got)
		}
	}
}

// pulled pulls an image from a registry, and returns the content of a program in it.
func pulled(t *testing.T, image, program string) string {
	t.Helper()
	ref, err := name.ParseReference(image)
	if err != nil {
		t.Fatal(err)
	}
	img, err := remote.Image(ref)
	if err != nil {
		t.Fatalf("expected %s in the registry: %v", image, err)
	}
	config, err := img.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"/" + program}; !slices.Equal(config.Config.Entrypoint, want) || config.Config.User != "65532:65532" {
		t.Errorf("%s: expected entrypoint %v of user 65532:65532, got %v of %s", image, want, config.Config.Entrypoint, config.Config.User)
	}
	return fileOf(t, img, program)
}

func fileOf(t *testing.T, img v1.Image, file string) string {
	t.Helper()
	content := mutate.Extract(img)
	defer content.Close()
	for files := tar.NewReader(content); ; {
		header, err := files.Next()
		if err != nil {
			t.Fatalf("no file %s: %v", file, err)
		}
		if strings.TrimPrefix(header.Name, "/") == file {
			found, err := io.ReadAll(files)
			if err != nil {
				t.Fatal(err)
			}
			return string(found)
		}
	}
}

// hub acts as Docker Hub: it requires a password, and forwards requests to the test registry at host.
type hub struct {
	t    *testing.T
	host string
}

func (h hub) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Host != "index.docker.io" || r.URL.Scheme != "https" {
		h.t.Errorf("expected all to go to https://index.docker.io, got %s", r.URL)
	}
	passed := r.Clone(r.Context())
	passed.URL.Scheme, passed.URL.Host = "http", h.host
	answer, err := http.DefaultTransport.RoundTrip(passed)
	if err == nil {
		answer.Request = r // redirects are relative to the request
	}
	return answer, err
}

func TestAUsersNameGoesToDockerHubWithTheUsersCredentials(t *testing.T) {
	content := registry.New(registry.Logger(log.New(io.Discard, "", 0)))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, password, _ := r.BasicAuth(); user != "user" || password != "secret" {
			w.Header().Set("WWW-Authenticate", `Basic realm="hub"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		content.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	images, err := Named("user/name:tag", "", "")
	if err != nil {
		t.Fatal(err)
	}
	bin := programs(t)
	if err := images.Build(bin); err != nil {
		t.Fatal(err)
	}
	p := pusher(io.Discard)
	p.Remote = []remote.Option{remote.WithTransport(hub{t, strings.TrimPrefix(server.URL, "http://")})}

	t.Setenv("DOCKER_CONFIG", t.TempDir())
	if err := p.Push(t.Context(), images, bin); err == nil || !strings.Contains(err.Error(), "docker login index.docker.io") {
		t.Errorf("expected a push without credentials to say how to log in, got: %v", err)
	}
	t.Setenv("DOCKER_CONFIG", dockerConfig(t, "user:secret"))
	if err := p.Push(t.Context(), images, bin); err != nil {
		t.Fatalf("expected the credentials of docker login to be used: %v", err)
	}
	for _, repository := range []string{"user/name", "user/name-agent", "user/name-backup"} {
		ask := httptest.NewRequest(http.MethodHead, "/v2/"+repository+"/manifests/tag", nil)
		answer := httptest.NewRecorder()
		if content.ServeHTTP(answer, ask); answer.Code != http.StatusOK {
			t.Errorf("expected %s:tag on Docker Hub, it answers %d", repository, answer.Code)
		}
	}
}

// dockerConfig creates a folder with credentials like those that docker login saves.
func dockerConfig(t *testing.T, login string) string {
	t.Helper()
	dir := t.TempDir()
	auth := base64.StdEncoding.EncodeToString([]byte(login))
	if err := os.WriteFile(filepath.Join(dir, "config.json"), []byte(`{"auths":{"https://index.docker.io/v1/":{"auth":"`+auth+`"}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestImagesGoToTheLocalClusterByTheirNameOrOnRequest(t *testing.T) {
	for title, c := range map[string]struct {
		operator, to string
	}{
		"the default name": {defaultOperator, ToAuto},
		"the earlier name": {"opcrew/opcrew:dev", ToAuto},
		"on request":       {"user/name:tag", ToLocal},
	} {
		t.Run(title, func(t *testing.T) {
			images, err := Named(c.operator, "", "")
			if err != nil {
				t.Fatal(err)
			}
			bin := programs(t)
			if err := images.Build(bin); err != nil {
				t.Fatal(err)
			}
			var loaded []string
			p := Pusher{To: c.to, Out: io.Discard, Load: func(_ context.Context, files []string) error {
				loaded = files
				return nil
			}}
			if err := p.Push(t.Context(), images, bin); err != nil || len(loaded) != 3 {
				t.Errorf("expected three images to be loaded, got %v (%v)", loaded, err)
			}
		})
	}
}

func TestPushesAreRefusedBeforeAnythingIsSent(t *testing.T) {
	host, bin := startRegistry(t), programs(t)
	built, _ := Named(host+"/op:v1", "", "")
	if err := built.Build(bin); err != nil {
		t.Fatal(err)
	}
	digested, _ := Named(host+"/op"+digest, host+"/agent:v1", host+"/backup:v1")
	other, _ := Named(host+"/op:v1", "", host+"/backup:v2")
	for title, c := range map[string]struct {
		images Images
		to     string
		says   string
	}{
		"a digest":                      {digested, ToAuto, "write IMG=" + host + "/op:v1"},
		"a name that was not built":     {other, ToAuto, "run make docker-build with the same"},
		"a place that does not exist":   {built, "moon", "PUSH=moon: use auto, registry or local"},
		"no local cluster to load into": {built, ToLocal, "make up"},
	} {
		t.Run(title, func(t *testing.T) {
			p := pusher(io.Discard)
			p.To = c.to
			if err := p.Push(t.Context(), c.images, bin); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("expected a refusal that says %q, got: %v", c.says, err)
			}
		})
	}
	ref, _ := name.ParseReference(host + "/op:v1")
	if _, err := remote.Head(ref); err == nil {
		t.Error("expected nothing to have been pushed")
	}
}

func TestAnOperatorOutsideIsGivenImagesThatPodsCanHave(t *testing.T) {
	bin, log := programs(t), &bytes.Buffer{}
	var loaded []string
	load := func(_ context.Context, files []string) error {
		loaded = append(loaded, files...)
		return nil
	}
	ours, _ := Named(defaultOperator, "", "")
	got, err := ours.Prepared(t.Context(), bin, load, log)
	if err != nil || len(loaded) != 2 || !strings.HasPrefix(got.Agent, "opcrew.invalid/opcrew-agent:dev-") || !strings.HasPrefix(got.Backup, "opcrew.invalid/opcrew-backup:dev-") {
		t.Fatalf("expected both images to be built under a tag of their content and loaded, got %+v, loaded %v (%v)", got, loaded, err)
	}
	if err := os.WriteFile(filepath.Join(bin, "opcrew-agent"), []byte("another program"), 0o700); err != nil {
		t.Fatal(err)
	}
	if later, err := ours.Prepared(t.Context(), bin, load, log); err != nil || later.Agent == got.Agent || later.Backup != got.Backup {
		t.Errorf("expected a new tag for the program that changed alone, got %+v after %+v (%v)", later, got, err)
	}

	loaded = nil
	pushed, _ := Named("user/op:v1", "", "")
	if got, err := pushed.Prepared(t.Context(), bin, load, log); err != nil || got != pushed || loaded != nil {
		t.Errorf("expected images of a registry to be left as they are, got %+v, loaded %v (%v)", got, loaded, err)
	}
	if _, err := ours.Prepared(t.Context(), bin, pusher(nil).Load, log); err != nil || !strings.Contains(log.String(), "No node has the images") {
		t.Errorf("expected a missing local cluster to be said and to stop nothing, got %q (%v)", log, err)
	}
}
