// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/validate"

	"github.com/opcrew/opcrew/hack/localcluster/image"
)

// workshop is a fake image builder that counts its builds.
type workshop struct {
	dir  string
	tags []string // of the images that it builds

	mu     sync.Mutex
	builds int
	fail   error         // error that the next build returns
	hold   chan struct{} // if set, builds wait until it is closed
}

func (w *workshop) file(s image.Source) string { return filepath.Join(w.dir, s.Name+".tar") }

func (w *workshop) built(s image.Source) (string, error) {
	if _, err := os.Stat(w.file(s)); err != nil {
		return "", nil //nolint:nilerr // the image is not built yet
	}
	return w.file(s), nil
}

func (w *workshop) build(_ context.Context, s image.Source) error {
	w.mu.Lock()
	w.builds++
	fail := w.fail
	w.fail = nil
	w.mu.Unlock()
	if w.hold != nil {
		<-w.hold
	}
	if fail != nil {
		return fail
	}
	binary := filepath.Join(w.dir, "program")
	if err := os.WriteFile(binary, []byte("a program"), 0o600); err != nil {
		return err
	}
	return image.BinaryImage{Tags: w.tags, Binaries: []string{binary}}.Write(w.file(s))
}

func (w *workshop) count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.builds
}

// open starts a registry whose catalogue has one image, crew. A build creates version 1.2.3 of crew.
func open(t *testing.T) (*workshop, *httptest.Server) {
	t.Helper()
	w := &workshop{dir: t.TempDir(), tags: []string{"team/crew:1.2.3", "team/crew:1.2"}}
	source := image.Source{Name: "crew", Tool: image.ToolApt, Tags: []string{"team/crew:{version}", "team/crew:{minor}"}, Series: "1.2"}
	server := httptest.NewServer(&server{newStore([]image.Source{source}, w.built, w.build)})
	t.Cleanup(server.Close)
	return w, server
}

// asMirror sends requests to the registry as a container runtime does to a mirror of docker.io.
type asMirror struct{}

func (asMirror) RoundTrip(r *http.Request) (*http.Response, error) {
	query := r.URL.Query()
	query.Set("ns", "docker.io")
	r = r.Clone(r.Context())
	r.URL.RawQuery = query.Encode()
	return http.DefaultTransport.RoundTrip(r)
}

func pull(ctx context.Context, server *httptest.Server, reference string) (v1.Image, error) {
	ref, err := name.ParseReference(strings.TrimPrefix(server.URL, "http://")+"/"+reference, name.Insecure)
	if err != nil {
		return nil, err
	}
	noRetry := remote.Backoff{Steps: 1}
	return remote.Image(ref, remote.WithContext(ctx), remote.WithTransport(asMirror{}), remote.WithRetryBackoff(noRetry))
}

func TestThreeNodesThatAskAtOnceGetOneBuild(t *testing.T) {
	w, server := open(t)
	w.hold = make(chan struct{})
	var wait sync.WaitGroup
	errs := make([]error, 3)
	for i := range errs {
		wait.Go(func() {
			img, err := pull(t.Context(), server, "team/crew:1.2")
			if err == nil {
				err = validate.Image(img) // reads the config and every layer
			}
			errs[i] = err
		})
	}
	awaitCount(t, w, 1)
	close(w.hold)
	wait.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	if n := w.count(); n != 1 {
		t.Errorf("expected one build for three nodes, there were %d", n)
	}
	byVersion, err := pull(t.Context(), server, "team/crew:1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	digest, err := byVersion.Digest()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := pull(t.Context(), server, "team/crew@"+digest.String()); err != nil {
		t.Errorf("expected the image by its digest too, got %v", err)
	}
}

func awaitCount(t *testing.T, w *workshop, n int) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); w.count() < n; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("expected %d builds to begin, there were %d", n, w.count())
		}
	}
}

func TestWhatTheCatalogueDoesNotHaveIsRefusedWithoutABuild(t *testing.T) {
	w, server := open(t)
	for _, reference := range []string{"team/other:1.2", "team/crew:1.3", "team/crew:latest", "crew:1.2"} {
		_, err := pull(t.Context(), server, reference)
		if err == nil || !strings.Contains(err.Error(), "MANIFEST_UNKNOWN") {
			t.Errorf("%s: expected MANIFEST_UNKNOWN, got %v", reference, err)
		}
	}
	if n := w.count(); n != 0 {
		t.Errorf("expected no build, there were %d", n)
	}
}

func TestNoVersionIsGivenUnderTheNameOfAnother(t *testing.T) {
	w, server := open(t)
	for range 2 {
		if _, err := pull(t.Context(), server, "team/crew:1.2.4"); err == nil || !strings.Contains(err.Error(), "MANIFEST_UNKNOWN") {
			t.Errorf("expected MANIFEST_UNKNOWN for 1.2.4, as 1.2.3 was made; got %v", err)
		}
	}
	if n := w.count(); n != 1 {
		t.Errorf("expected one build to learn the version, there were %d", n)
	}
}

func TestABuildGoesOnWhenTheClientThatAskedGivesUp(t *testing.T) {
	w, server := open(t)
	w.hold = make(chan struct{})
	ctx, giveUp := context.WithCancel(t.Context())
	gone := make(chan error, 1)
	go func() {
		_, err := pull(ctx, server, "team/crew:1.2")
		gone <- err
	}()
	awaitCount(t, w, 1)
	giveUp()
	if err := <-gone; err == nil {
		t.Fatal("expected the client that gave up to get nothing")
	}
	close(w.hold)
	if _, err := pull(t.Context(), server, "team/crew:1.2"); err != nil {
		t.Fatal(err)
	}
	if n := w.count(); n != 1 {
		t.Errorf("expected the second client to get the first one's build, there were %d", n)
	}
}

func TestABuildThatFailsSaysWhyAndIsTriedAgain(t *testing.T) {
	w, server := open(t)
	w.fail = errors.New("no mirror answers")
	if code, body := askFor(t, http.MethodGet, server.URL+"/v2/team/crew/manifests/1.2?ns=docker.io"); code != http.StatusInternalServerError || !strings.Contains(body, "no mirror answers") {
		t.Errorf("expected the reason of the build, got %d %s", code, body)
	}
	if _, err := pull(t.Context(), server, "team/crew:1.2"); err != nil {
		t.Errorf("expected the next client to get an image, got %v", err)
	}
}

func TestTheRegistryTakesNothing(t *testing.T) {
	_, server := open(t)
	for method, path := range map[string]string{
		http.MethodPost: "/v2/team/crew/blobs/uploads/", http.MethodPut: "/v2/team/crew/manifests/1.2", http.MethodDelete: "/v2/team/crew/manifests/1.2",
	} {
		if got, _ := askFor(t, method, server.URL+path); got != http.StatusMethodNotAllowed {
			t.Errorf("%s %s: expected it to be refused, got %d", method, path, got)
		}
	}
	for path, want := range map[string]int{
		"/v2/": http.StatusOK, "/": http.StatusNotFound, "/v2/team/crew/tags/list": http.StatusNotFound,
		"/v2/team/crew/blobs/sha256:" + strings.Repeat("0", 64): http.StatusNotFound, "/v2/team/crew/blobs/x": http.StatusBadRequest,
		"/v2/team/crew/manifests/sha256:" + strings.Repeat("0", 64): http.StatusNotFound, "/v2/Team/crew/manifests/1": http.StatusBadRequest,
	} {
		if got, _ := askFor(t, http.MethodGet, server.URL+path); got != want {
			t.Errorf("GET %s: expected %d, got %d", path, want, got)
		}
	}
}

func askFor(t *testing.T, method, url string) (int, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(body)
}

func TestBuildsGetTheCallersWayToPackagesAndNothingElse(t *testing.T) {
	got := buildEnvironment([]string{
		"HOME=/home/me", "TOKEN=secret", "PATH=/usr/local/go/bin:/bin", "GOPROXY=https://proxy.example.com", "https_proxy=http://proxy.example.com:3128",
		"NO_PROXY=10.0.0.0/8", "LANG=C",
	})
	want := []string{"GOPROXY=https://proxy.example.com", "HOME=/home/me", "NO_PROXY=10.0.0.0/8", "PATH=/usr/local/go/bin:/bin", "https_proxy=http://proxy.example.com:3128"}
	if !slices.Equal(got, want) {
		t.Error(fmt.Errorf("expected %q, got %q", want, got))
	}
}
