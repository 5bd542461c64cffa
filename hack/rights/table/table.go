// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package table writes docs/rights.md, which lists every right of the operator and the reason for it.
package table

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/opcrew/opcrew/hack/rights/marker"
	"github.com/opcrew/opcrew/hack/rights/namespaced"
)

const head = `# Rights of the operator

<!-- Written by make rights from the markers in internal/kit and internal/kinds; edit those. -->

Each layer runs under its own ServiceAccount in ` + "`opcrew-system`" + `. Its role is generated from the markers of its kinds; each
marker has its reason above it in the code, and this page is generated from both. [Security](security.md) says what the
rights mean for an attacker, and [Install](install.md#in-some-namespaces-only) how to install opcrew for some namespaces.

The column "where" says which namespaces a right is for:

- **namespaces**: all of them, or those of ` + "`make deploy NAMESPACES=a,b`" + `
- **cluster**: a resource without a namespace
- **one namespace**, by its name
- **the name of a role**: opcrew has the right only through this separate role, whose binding you can delete

opcrew has the rights of machineconfig only where ` + "`config/machineconfig`" + ` is installed.

"read" is get, list and watch.
`

// Write writes docs/rights.md with the rights of each layer (each Deployment of the operator). It returns an error if a
// right has no reason.
func Write(out io.Writer, layers []marker.Layer) error {
	page := bytes.NewBufferString(head)
	for _, layer := range layers {
		fmt.Fprintf(page, "\n## %s\n\nServiceAccount `opcrew-%s`\n\n| kind | where | resources | verbs | why |\n|---|---|---|---|---|\n", layer.Name, layer.Name)
		for _, right := range layer.Rights {
			if right.Reason == "" {
				return fmt.Errorf("%s: the marker has no reason; write the reason in a comment above it", right.At)
			}
			fmt.Fprintf(page, "| %s | %s | %s | %s | %s |\n", cmp.Or(right.Kind, "all"), where(right, layer), resources(right), verbs(right), right.Reason)
		}
	}
	_, err := page.WriteTo(out)
	return err
}

func where(right marker.Right, layer marker.Layer) string {
	switch {
	case right.Role != "" && slices.Contains(layer.Separate, right.Kind):
		return "`" + right.Role + "`"
	case right.Role != "":
		return "`" + right.Role + "-" + layer.Name + "`"
	case right.Namespace != "":
		return "`" + right.Namespace + "`"
	case namespaced.IsClusterScoped(right.Groups[0], right.Resources[0]):
		return "cluster"
	}
	return "namespaces"
}

// resources formats the resources of a right with their group, and the object names to which the right is limited.
func resources(right marker.Right) string {
	var out []string
	for _, resource := range right.Resources {
		name, sub, _ := strings.Cut(resource, "/")
		if group := right.Groups[0]; group != "" {
			name += "." + group
		}
		if sub != "" {
			name += "/" + sub
		}
		out = append(out, name)
	}
	text := "`" + strings.Join(out, "`, `") + "`"
	if len(right.Names) > 0 {
		text += " named `" + strings.Join(right.Names, "`, `") + "`"
	}
	return text
}

// verbs formats the verbs of a right. It writes "read" for get, list and watch, which usually occur together.
func verbs(right marker.Right) string {
	return strings.Replace(strings.Join(right.Verbs, ", "), "get, list, watch", "read", 1)
}
