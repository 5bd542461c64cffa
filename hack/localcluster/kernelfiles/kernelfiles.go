// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package kernelfiles mounts files over kernel files that all namespaces share, so that each node has its own values.
package kernelfiles

import (
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/opcrew/opcrew/hack/localcluster/state"
)

// Values returns the contents of the files that Cover mounts, by path. Each boot of a node has a new boot ID, so that
// the kubelet detects a reboot. The other files already contain the values that the kubelet would set, so that the
// kubelet does not change this host's settings.
func Values(bootID string) map[string]string {
	return map[string]string{
		"/proc/sys/kernel/random/boot_id":     bootID,
		"/proc/sys/kernel/keys/root_maxbytes": "25000000",
		"/proc/sys/kernel/keys/root_maxkeys":  "1000000",
		"/proc/sys/kernel/panic":              "10",
		"/proc/sys/kernel/panic_on_oops":      "1",
		"/proc/sys/vm/overcommit_memory":      "1",
		"/proc/sys/vm/panic_on_oom":           "0",
	}
}

// Cover mounts files with the values over the kernel's files below root. It keeps the files in dir, a folder on a file
// system that ends with the boot.
func Cover(root, dir string, values ...map[string]string) error {
	all := map[string]string{}
	for _, v := range values {
		maps.Copy(all, v)
	}
	for target, value := range all {
		source := filepath.Join(dir, strings.ReplaceAll(target, "/", "_"))
		if err := state.WriteFile(source, []byte(value+"\n"), 0o644); err != nil {
			return err
		}
		err := unix.Mount(source, root+target, "", unix.MS_BIND, "")
		if err != nil && !errors.Is(err, syscall.ENOENT) {
			return fmt.Errorf("cover %s: %w", target, err)
		}
	}
	return nil
}

// NewBootID returns a random ID in the kernel's format.
func NewBootID() string {
	b := make([]byte, 16)
	_, _ = rand.Read(b) // crypto/rand never returns an error
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[0:4], b[4:6], b[6:8], b[8:10], b[10:])
}
