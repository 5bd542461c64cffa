// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/coreos/ignition/v2/config/v3_5/types"
)

// SecretKey names a key of a Secret.
type SecretKey struct{ Namespace, Name, Key string }

// String returns the URL that refers to the key.
func (s SecretKey) String() string {
	return fmt.Sprintf("%s%s/%s/%s", secretScheme, s.Namespace, s.Name, s.Key)
}

// SecretUse is one place of a configuration that gets the data of a Secret.
type SecretUse struct {
	SecretKey
	// Field is the path in the merged Ignition config, for messages.
	Field string
	// Path is the path of the file on the host.
	Path string
	// Append is the index in the list "append" of the Ignition file; -1 if the place is its "contents".
	Append int

	resource types.Resource
}

const (
	secretScheme = "secret://"
	// placeholder replaces the scheme before Ignition's library validates a config, because the library accepts only
	// the schemes that Ignition can fetch.
	placeholder = "data:application/vnd.opcrew.secret,"
)

var secretURL = regexp.MustCompile(`^([a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)/([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?)/([-._a-zA-Z0-9]{1,253})$`)

// parseSecret returns the key that a source refers to, before or after hideSecrets.
func parseSecret(source string) (SecretKey, bool) {
	rest, found := strings.CutPrefix(source, placeholder)
	if !found {
		return SecretKey{}, false
	}
	match := secretURL.FindStringSubmatch(rest)
	if match == nil {
		return SecretKey{}, false
	}
	return SecretKey{match[1], match[3], match[5]}, true
}

// hideSecrets replaces references to Secrets by placeholders. It refuses placeholders that a user wrote, because the
// check of the user's rights to a Secret looks for references.
func hideSecrets(raw []byte) ([]byte, error) {
	if !bytes.Contains(raw, []byte(secretScheme)) && !bytes.ContainsAny(raw, `\`) && !bytes.Contains(raw, []byte(placeholder)) {
		return raw, nil
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var config any
	if err := decoder.Decode(&config); err != nil {
		return nil, fmt.Errorf("not valid JSON: %w", err)
	}
	config, err := hideIn(config)
	if err != nil {
		return nil, err
	}
	return json.Marshal(config)
}

// hideIn replaces references in a JSON value, and returns the value.
func hideIn(value any) (any, error) {
	var err error
	switch v := value.(type) {
	case map[string]any:
		for key := range v {
			if v[key], err = hideIn(v[key]); err != nil {
				return nil, err
			}
		}
	case []any:
		for i := range v {
			if v[i], err = hideIn(v[i]); err != nil {
				return nil, err
			}
		}
	case string:
		return hideText(v)
	}
	return value, nil
}

func hideText(text string) (string, error) {
	if strings.HasPrefix(text, placeholder) {
		return "", fmt.Errorf("%q is reserved for opcrew: write secret://<namespace>/<name>/<key>", placeholder)
	}
	rest, found := strings.CutPrefix(text, secretScheme)
	if !found {
		return text, nil
	}
	if !secretURL.MatchString(rest) {
		return "", fmt.Errorf("%q does not name a key of a Secret: write secret://<namespace>/<name>/<key>", text)
	}
	return placeholder + rest, nil
}
