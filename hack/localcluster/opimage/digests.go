// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package opimage

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/opcrew/opcrew/hack/localcluster/image"
)

// askTimeout limits how long a deployment waits for the response of a registry.
const askTimeout = 10 * time.Second

// digestsFile is a file in bin with the digest of each image that was pushed from this clone. A deployment uses these
// digests instead of tags, because another user of the registry may have moved a tag.
const digestsFile = "digests.json"

// byDigest replaces each image name that is a key of digests by its value: the name with a digest instead of the tag.
func (i Images) byDigest(digests map[string]string) Images {
	for _, name := range []*string{&i.Operator, &i.Agent, &i.Backup} {
		if digest, known := digests[*name]; known {
			*name = digest
		}
	}
	return i
}

// keepDigests saves the digests of pushed images. It removes saved digests of images that were now loaded into the
// local cluster's nodes and not pushed.
func keepDigests(bin string, images Images, pushed map[string]string) error {
	digests, err := readDigests(bin)
	if err != nil {
		return err
	}
	for _, p := range images.list() {
		delete(digests, p.name)
		if digest, ok := pushed[p.name]; ok {
			digests[p.name] = digest
		}
	}
	content, err := json.MarshalIndent(digests, "", "  ")
	if err != nil {
		return fmt.Errorf("encode the digests of pushed images: %w", err)
	}
	if err := os.WriteFile(filepath.Join(bin, digestsFile), append(content, '\n'), 0o600); err != nil {
		return fmt.Errorf("record the digests of pushed images: %w", err)
	}
	return nil
}

func readDigests(bin string) (map[string]string, error) {
	digests := map[string]string{}
	content, err := os.ReadFile(filepath.Join(bin, digestsFile))
	if errors.Is(err, fs.ErrNotExist) {
		return digests, nil
	}
	if err == nil {
		err = json.Unmarshal(content, &digests)
	}
	if err != nil {
		return nil, fmt.Errorf("read the digests of pushed images: %w; push again", err)
	}
	return digests, nil
}

// Pinned replaces the tags of images by the digests that were pushed from this clone, if the registry still has them.
// It logs which images keep a tag, and why.
func (i Images) Pinned(ctx context.Context, bin string, log io.Writer, options ...remote.Option) (Images, error) {
	digests, err := readDigests(bin)
	if err != nil {
		return Images{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	for _, p := range i.list() {
		if Local(p.name) || strings.Contains(p.name, "@") {
			continue
		}
		if why := unpinned(ctx, digests[p.name], options); why != "" {
			delete(digests, p.name)
			fmt.Fprintf(log, "%s is deployed by its tag, which another user of the registry can move, because %s\n", p.name, why)
		}
	}
	return i.byDigest(digests), nil
}

// unpinned returns why an image cannot be named by a digest, or "" if it can.
func unpinned(ctx context.Context, digest string, options []remote.Option) string {
	if digest == "" {
		return "it was not pushed from here (make docker-push)"
	}
	if err := image.Exists(ctx, digest, options...); err != nil {
		return err.Error()
	}
	return ""
}
