// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build !linux

// Command opcrew-machine is the machine agent. It runs only on Linux.
package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "opcrew-machine runs only on Linux")
	os.Exit(1)
}
