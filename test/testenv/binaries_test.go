// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package testenv

import (
	"strings"
	"testing"
)

func TestAMissingBinaryIsNamedWithTheCommandThatBuildsIt(t *testing.T) {
	empty := t.TempDir()
	t.Setenv(assetsVar, "")
	_, err := binaries{root: empty}.kube("etcd")
	wantError(t, err, "run `make test`")
	_, err = binaries{root: empty}.kwok()
	wantError(t, err, "`make bin/kwok`")
	t.Setenv(assetsVar, empty)
	_, err = binaries{root: empty}.kube("kube-controller-manager")
	wantError(t, err, "has no kube-controller-manager")
}

func TestAnInvalidFlagIsReportedWithTheLogOfTheProcess(t *testing.T) {
	_, err := start(t.Context(), Options{APIServerFlags: []string{"--no-such-flag"}})
	wantError(t, err, "kube-apiserver does not start")
	wantError(t, err, "unknown flag: --no-such-flag")
}

func wantError(t *testing.T, err error, part string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), part) {
		t.Errorf("expected an error with %q, got %v", part, err)
	}
}
