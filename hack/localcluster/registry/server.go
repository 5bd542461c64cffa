// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"regexp"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// server handles the requests with which clients pull images:
// https://github.com/opencontainers/distribution-spec/blob/v1.1.1/spec.md#pull
type server struct{ store *store }

// pulls matches the request paths of the distribution API. The name of a repository may contain slashes.
var pulls = regexp.MustCompile(`^/v2/(.+)/(manifests|blobs)/([^/]+)$`)

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		refuse(w, http.StatusMethodNotAllowed, "UNSUPPORTED", "this registry is read-only; `localcluster image load` loads images into the nodes")
		return
	}
	if r.URL.Path == "/v2/" || r.URL.Path == "/v2" {
		w.WriteHeader(http.StatusOK)
		return
	}
	path := pulls.FindStringSubmatch(r.URL.Path)
	if path == nil {
		refuse(w, http.StatusNotFound, "UNSUPPORTED", "this registry only serves manifests and blobs of images")
		return
	}
	if path[2] == "blobs" {
		s.blob(w, path[3])
		return
	}
	s.manifest(w, r, path[1], path[3])
}

// manifest sends the manifest of an image with a tag or digest. A runtime that uses a mirror sends the image's registry
// in the query parameter ns.
func (s *server) manifest(w http.ResponseWriter, r *http.Request, repository, reference string) {
	if digest, err := v1.NewHash(reference); err == nil {
		sendManifest(w, s.store.byDigest(digest))
		return
	}
	text := repository + ":" + reference
	if registry := r.URL.Query().Get("ns"); registry != "" {
		text = registry + "/" + text
	}
	tag, err := name.NewTag(text)
	if err != nil {
		refuse(w, http.StatusBadRequest, "NAME_INVALID", err.Error())
		return
	}
	img, err := s.store.byTag(r.Context(), tag)
	switch {
	case errors.Is(err, errUnknown):
		log.Printf("image %s is not in the catalogue", tag)
		refuse(w, http.StatusNotFound, "MANIFEST_UNKNOWN", fmt.Sprintf("%s: %v; `localcluster image catalog` lists its images", tag, err))
	case err != nil:
		refuse(w, http.StatusInternalServerError, "UNKNOWN", err.Error())
	default:
		sendManifest(w, img)
	}
}

// sendManifest sends the manifest of an image, or an error if img is nil. For HEAD requests, net/http sends only the
// headers.
func sendManifest(w http.ResponseWriter, img v1.Image) {
	if img == nil {
		refuse(w, http.StatusNotFound, "MANIFEST_UNKNOWN", "no image that a client requested by tag has this digest")
		return
	}
	manifest, err := img.RawManifest()
	if err != nil {
		refuse(w, http.StatusInternalServerError, "UNKNOWN", err.Error())
		return
	}
	digest, err := img.Digest()
	if err != nil {
		refuse(w, http.StatusInternalServerError, "UNKNOWN", err.Error())
		return
	}
	media, err := img.MediaType()
	if err != nil {
		refuse(w, http.StatusInternalServerError, "UNKNOWN", err.Error())
		return
	}
	describe(w, string(media), digest, int64(len(manifest)))
	_, _ = w.Write(manifest)
}

func (s *server) blob(w http.ResponseWriter, reference string) {
	digest, err := v1.NewHash(reference)
	if err != nil {
		refuse(w, http.StatusBadRequest, "DIGEST_INVALID", err.Error())
		return
	}
	layer := s.store.layer(digest)
	if layer == nil {
		refuse(w, http.StatusNotFound, "BLOB_UNKNOWN", "no image that a client requested by tag has this layer")
		return
	}
	if err := sendBlob(w, digest, layer); err != nil {
		refuse(w, http.StatusInternalServerError, "UNKNOWN", err.Error())
	}
}

// sendBlob sends a layer or config. It returns an error only if it has not sent a byte yet. If it fails after that, the
// client notices that bytes are missing.
func sendBlob(w http.ResponseWriter, digest v1.Hash, layer v1.Layer) error {
	size, err := layer.Size()
	if err != nil {
		return err
	}
	content, err := layer.Compressed()
	if err != nil {
		return err
	}
	defer content.Close()
	describe(w, "application/octet-stream", digest, size)
	if _, err := io.Copy(w, content); err != nil {
		log.Printf("layer %s: %v", digest, err)
	}
	return nil
}

func describe(w http.ResponseWriter, media string, digest v1.Hash, size int64) {
	w.Header().Set("Content-Type", media)
	w.Header().Set("Content-Length", fmt.Sprint(size))
	w.Header().Set("Docker-Content-Digest", digest.String())
}

// refuse sends an error response in the format of the distribution API.
func refuse(w http.ResponseWriter, status int, code, message string) {
	type entry struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string][]entry{"errors": {{code, message}}})
}
