// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"

	"github.com/coreos/ignition/v2/config/v3_5/types"
	"github.com/vincent-petithory/dataurl"
)

// checkSource reports a source that opcrew would have to fetch.
func checkSource(resource types.Resource, field string, n *notes) {
	if len(resource.HTTPHeaders) > 0 {
		n.unsupported(field+".httpHeaders", "opcrew fetches no URLs; remove the field")
	}
	if resource.Source == nil || *resource.Source == "" {
		return
	}
	parsed, err := url.Parse(*resource.Source)
	if err != nil || parsed.Scheme != "data" {
		n.unsupported(field+".source", "opcrew fetches no URLs such as %s; write the contents as a data URL, or as secret://<namespace>/<name>/<key>",
			shorten(*resource.Source))
	}
}

// errTooLarge reports contents that exceed what is left of MaxUnpacked.
var errTooLarge = errors.New("unpacked contents are too large")

// decode returns the contents of a data URL.
func decode(resource types.Resource, limit int) ([]byte, error) {
	if *resource.Source == "" {
		return verify(nil, resource)
	}
	parsed, err := dataurl.DecodeString(*resource.Source)
	if err != nil {
		return nil, fmt.Errorf("not a data URL: %w: write data:, followed by the contents in URL encoding, or data:;base64, followed by base64", err)
	}
	return unpack(parsed.Data, resource, limit)
}

// unpack decompresses data and compares its hash.
func unpack(data []byte, resource types.Resource, limit int) ([]byte, error) {
	if resource.Compression != nil && *resource.Compression == "gzip" {
		var err error
		if data, err = gunzip(data, limit); err != nil {
			return nil, err
		}
	}
	if len(data) > limit {
		return nil, errTooLarge
	}
	return verify(data, resource)
}

func gunzip(data []byte, limit int) ([]byte, error) {
	reader, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("the contents are not in gzip format: %w: remove compression, or compress the contents", err)
	}
	out, err := io.ReadAll(io.LimitReader(reader, int64(limit)+1))
	if err != nil {
		return nil, fmt.Errorf("the contents cannot be decompressed: %w: compress them again", err)
	}
	return out, nil
}

// verify compares the hash in verification.hash with that of the unpacked data, as Ignition defines it.
func verify(data []byte, resource types.Resource) ([]byte, error) {
	if data == nil {
		data = []byte{}
	}
	if resource.Verification.Hash == nil {
		return data, nil
	}
	function, want, _ := strings.Cut(*resource.Verification.Hash, "-")
	if got := hashWith(function, data); !strings.EqualFold(got, want) {
		return nil, fmt.Errorf("verification.hash does not match: the unpacked contents have %s-%s; correct the hash or the contents", function, got)
	}
	return data, nil
}

func hashWith(function string, data []byte) string {
	if function == "sha512" {
		sum := sha512.Sum512(data)
		return hex.EncodeToString(sum[:])
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// shorten returns the beginning of a URL, without user information.
func shorten(source string) string {
	const most = 60
	if at := strings.LastIndex(source, "@"); at >= 0 {
		source = source[at+1:]
	}
	if len(source) > most {
		source = source[:most] + "..."
	}
	return fmt.Sprintf("%q", source)
}
