// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/coreos/ignition/v2/config/v3_5"
	"github.com/coreos/ignition/v2/config/v3_5/types"
)

// mergeAll merges configs with Ignition's library. A later config overrides an earlier one.
func mergeAll(parts []part) types.Config {
	out := types.Config{Ignition: types.Ignition{Version: newest}}
	for _, p := range parts {
		out.Storage.Files = withoutReplaced(out.Storage.Files, p.ignition.Storage.Files)
		out = v3_5.Merge(out, p.ignition)
	}
	return out
}

// withoutReplaced clears the contents of files for which a later config has a source. Ignition's library merges fields
// one by one, and would combine the new source with the compression or the hash of the old one.
func withoutReplaced(files, later []types.File) []types.File {
	out := slices.Clone(files)
	for i := range out {
		replaced := func(f types.File) bool { return f.Path == out[i].Path && f.Contents.Source != nil }
		if slices.ContainsFunc(later, replaced) {
			out[i].Contents = types.Resource{}
		}
	}
	return out
}

// encode returns a merged config as JSON, without empty objects and with references to Secrets as the user wrote them.
func encode(config types.Config) []byte {
	raw, err := json.Marshal(config)
	if err != nil {
		panic("types of Ignition's library cannot be encoded: " + err.Error())
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		panic("JSON that was just written cannot be parsed: " + err.Error())
	}
	if raw, err = marshal(simplify(value)); err != nil {
		panic("JSON that was just parsed cannot be written: " + err.Error())
	}
	return raw
}

// marshal encodes JSON without escaping <, > and &, which are frequent in scripts.
func marshal(value any) ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(value)
	return bytes.TrimSpace(out.Bytes()), err
}

// simplify removes empty objects from objects, and restores references to Secrets.
func simplify(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for key := range v {
			v[key] = simplify(v[key])
			if empty, is := v[key].(map[string]any); is && len(empty) == 0 {
				delete(v, key)
			}
		}
	case []any:
		for i := range v {
			v[i] = simplify(v[i])
		}
	case string:
		if rest, found := strings.CutPrefix(v, placeholder); found {
			return secretScheme + rest
		}
	}
	return value
}
