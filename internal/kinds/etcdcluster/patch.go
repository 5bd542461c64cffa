// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"encoding/json"
	"fmt"
	"strings"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// annotationPath is that of an annotation in a JSON patch (RFC 6901).
func annotationPath(key string) string {
	return "/metadata/annotations/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(key)
}

func encode(operations []map[string]any) []byte {
	data, err := json.Marshal(operations)
	if err != nil { // text and nothing else
		panic(fmt.Errorf("encode a patch: %w", err))
	}
	return data
}

func fieldSet(parts ...any) *fieldpath.Set {
	return fieldpath.NewSet(fieldpath.MakePathOrDie(parts...))
}
