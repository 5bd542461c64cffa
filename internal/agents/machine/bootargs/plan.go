// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package bootargs

import (
	"errors"
	"fmt"
	"strings"
)

// GrubFile is the file with opcrew's arguments on hosts with GRUB. Its number is high, so that it sees the arguments
// of all other files.
const GrubFile = "/etc/default/grub.d/95-opcrew.cfg"

// Loader is the boot loader of a host.
type Loader string

// The boot loaders that the package supports.
const (
	Grub        Loader = "GRUB"
	SystemdBoot Loader = "systemd-boot"
)

// Host is what Detect found.
type Host struct {
	// Loader is empty if the package does not support the boot loader.
	Loader Loader
	// Files are the files of systemd-boot that contain a kernel command line, with their contents.
	Files map[string]string
}

var errUnsupported = errors.New("the host has neither GRUB with update-grub nor systemd-boot with a loader.conf, so opcrew cannot set kernel arguments: " +
	"remove kernelArguments, and set them with an Activity that calls the host's own tool, such as grubby")

// Plan returns the new content of GrubFile, or the new command line of each file of systemd-boot.
func Plan(h Host, add, remove []string) (map[string]string, error) {
	switch {
	case len(add)+len(remove) == 0:
		return nil, nil
	case h.Loader == Grub:
		return map[string]string{GrubFile: grubScript(add, remove)}, nil
	case h.Loader != SystemdBoot:
		return nil, errUnsupported
	}
	out := map[string]string{}
	for p, content := range h.Files {
		line, err := Line(p, content)
		if err != nil {
			return nil, err
		}
		out[p] = Edit(line, add, remove)
	}
	return out, nil
}

// grubScript is sourced by grub-mkconfig, a shell script. The names of arguments have no characters that a shell or
// GRUB interprets, because hostconfig refuses them.
func grubScript(add, remove []string) string {
	var out strings.Builder
	out.WriteString("# opcrew writes this file from the kernelArguments of MachineConfigs. Changes are lost.\n")
	if len(remove) > 0 {
		fmt.Fprintf(&out, filter, "'"+strings.Join(remove, "'|'")+"'")
	}
	for _, argument := range add {
		fmt.Fprintf(&out, "GRUB_CMDLINE_LINUX=\"$GRUB_CMDLINE_LINUX %s\"\n", argument)
	}
	return out.String()
}

// filter removes arguments from the variables of GRUB. set -f keeps the shell from expanding * in other arguments.
const filter = `opcrew_keep() (
  set -f
  for argument in $1; do
    case "$argument" in
      %s) ;;
      *) printf '%%s ' "$argument" ;;
    esac
  done
)
GRUB_CMDLINE_LINUX="$(opcrew_keep "$GRUB_CMDLINE_LINUX")"
GRUB_CMDLINE_LINUX_DEFAULT="$(opcrew_keep "$GRUB_CMDLINE_LINUX_DEFAULT")"
unset -f opcrew_keep
`
