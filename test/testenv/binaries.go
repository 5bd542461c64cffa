// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package testenv

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/opcrew/opcrew/test/testenv/repo"
)

const (
	// assetsVar is the environment variable, known from kubebuilder, for a directory with binaries such as etcd and
	// kube-apiserver.
	assetsVar = "KUBEBUILDER_ASSETS"
)

// binaries finds the programs that the environment starts.
type binaries struct {
	root string // root of the repository
}

// findBinaries returns the binaries of this repository. It searches for the root of the repository upwards from the
// working directory, which go test sets to the directory of the tested package.
func findBinaries() (binaries, error) {
	root, err := repo.Root()
	return binaries{root: root}, err
}

// kube returns the path of a Kubernetes component. If KUBEBUILDER_ASSETS is set, kube returns the file with the name of
// the component in that directory. Otherwise kube returns the project's binary bin/kube, which selects the component by
// argv[0].
func (b binaries) kube(component string) (string, error) {
	if assets := os.Getenv(assetsVar); assets != "" {
		return executable(filepath.Join(assets, component),
			fmt.Sprintf("%s is set to %s, which has no %s: unset it to use the project's own build", assetsVar, assets, component))
	}
	return executable(filepath.Join(b.root, "bin", "kube"), "bin/kube is missing: run `make test`, or `make bin/kube` to build only that")
}

func (b binaries) kwok() (string, error) {
	return executable(filepath.Join(b.root, "bin", "kwok"), "bin/kwok is missing: run `make test`, or `make bin/kwok` to build only that")
}

func executable(path, advice string) (string, error) {
	info, err := os.Stat(path)
	if err != nil || info.IsDir() || info.Mode()&0o111 == 0 {
		return "", errors.New(advice)
	}
	return path, nil
}
