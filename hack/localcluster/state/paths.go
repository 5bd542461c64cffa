// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Kubeconfig returns the path of the administrator's kubeconfig.
func (s *State) Kubeconfig() string { return filepath.Join(s.Dir, "kubeconfig") }

// BinDir returns the folder with copies of all binaries that the cluster runs. With copies, the cluster does not depend
// on the clone of the repository from which `localcluster up` ran.
func (s *State) BinDir() string { return filepath.Join(s.Dir, "bin") }

// Binary returns the path of a binary in BinDir.
func (s *State) Binary(name string) string { return filepath.Join(s.BinDir(), name) }

// PKIDir returns the folder with certificates and keys.
func (s *State) PKIDir() string { return filepath.Join(s.Dir, "pki") }

// AuditLog returns the path of the API server's audit log. The log contains one JSON event of level Metadata per line.
func (s *State) AuditLog() string { return filepath.Join(s.Dir, "audit", "audit.log") }

// NetNSDir returns the folder with the files to which the machines' network namespaces are mounted.
func (s *State) NetNSDir() string { return filepath.Join(s.Dir, "netns") }

// MachineDir returns the folder with a machine's configuration, data and logs.
func (s *State) MachineDir(machine string) string {
	return filepath.Join(s.Dir, "machines", machine)
}

// HostDir returns the folder with the root file system of a node's operating system. It exists only for nodes with
// systemd. The folder contains only files of the node's disk, because mounts on the node are not visible from outside.
func (s *State) HostDir(node string) string {
	return filepath.Join(s.MachineDir(node), "root")
}

// ServiceDir returns the folder with the specifications of a machine's services.
func (s *State) ServiceDir(machine string) string {
	return filepath.Join(s.MachineDir(machine), "services")
}

// LogFile returns the path of a service's log.
func (s *State) LogFile(machine, service string) string {
	return filepath.Join(s.MachineDir(machine), "logs", service+".log")
}

// BootIDFile returns the path of the file with a node's own boot ID, which the node's kubelet reports.
func (s *State) BootIDFile(node string) string {
	return filepath.Join(s.MachineDir(node), "boot-id")
}

// InstallBinary copies a binary into BinDir and returns the new path. It can replace a binary that is running.
func (s *State) InstallBinary(source string) (string, error) {
	target := s.Binary(filepath.Base(source))
	if err := copyFile(source, target, 0o755); err != nil {
		return "", fmt.Errorf("install %s: %w", filepath.Base(source), err)
	}
	return target, nil
}

// WriteFile writes a file and creates its parent directories. Readers see either the whole old or the whole new
// content.
func WriteFile(path string, data []byte, mode os.FileMode) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	temporary := fmt.Sprintf("%s.%d.tmp", path, os.Getpid())
	if err := os.WriteFile(temporary, data, mode); err != nil {
		return err
	}
	return os.Rename(temporary, path)
}

func copyFile(source, target string, mode os.FileMode) error {
	in, err := os.Open(source)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
		return err
	}
	temporary := fmt.Sprintf("%s.%d.tmp", target, os.Getpid())
	out, err := os.OpenFile(temporary, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, mode)
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, in); err != nil {
		_ = out.Close()
		return err
	}
	if err := out.Close(); err != nil {
		return err
	}
	return os.Rename(temporary, target)
}
