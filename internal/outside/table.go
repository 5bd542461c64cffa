// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package outside

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"text/tabwriter"

	"github.com/opcrew/opcrew/internal/kit"
)

// Table writes one line per kind: either what is limited because opcrew runs outside the cluster, or why the process
// does not serve the kind.
func Table(w io.Writer, served []kit.Registration, unserved map[string]string) error {
	table := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	fmt.Fprintln(table, "KIND\tSERVED\tLIMITS OUTSIDE THE CLUSTER")
	for _, kind := range served {
		fmt.Fprintf(table, "%s\tyes\t%s\n", kind.Name, cmp.Or(kind.Outside, "no limits"))
	}
	for _, name := range slices.Sorted(maps.Keys(unserved)) {
		fmt.Fprintf(table, "%s\tno\t%s\n", name, unserved[name])
	}
	return table.Flush()
}
