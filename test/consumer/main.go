// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Command consumer acts as a user's program. It is a Go module outside opcrew that imports only the API and its apply
// configurations. It prints the configuration of a Memcached that a client would apply, decodes that into the API type,
// and prints the number of servers. make verify builds and tests it, to check that the API modules do not depend on the
// operator.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	cachev1alpha1 "github.com/opcrew/opcrew/api/cache/v1alpha1"
	cacheconfig "github.com/opcrew/opcrew/applyconfigurations/cache/v1alpha1"
)

func main() {
	applied, err := json.Marshal(declared("example", "default", 3))
	if err != nil {
		fail(err)
	}
	read := cachev1alpha1.Memcached{}
	if err := json.Unmarshal(applied, &read); err != nil {
		fail(err)
	}
	fmt.Printf("%s\n%s/%s has %d servers\n", applied, read.Namespace, read.Name, read.Spec.Size)
}

// declared returns the configuration of a Memcached that a client would send with server-side apply.
func declared(name, namespace string, size int32) *cacheconfig.MemcachedApplyConfiguration {
	spec := cacheconfig.MemcachedSpec().WithSize(size).WithExporter(cacheconfig.Exporter())
	return cacheconfig.Memcached(name, namespace).WithLabels(map[string]string{"team": "a"}).WithSpec(spec)
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
