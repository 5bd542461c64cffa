// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package testenv

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestOldDirectoriesOfEndedTestBinariesAreSwept(t *testing.T) {
	const noSuchPid = 1 << 30
	past, future := time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	for _, test := range []struct {
		name   string
		dir    string
		before time.Time
		stays  bool
	}{
		{"old, its owner is gone", fmt.Sprintf("%s%d-1", workDirPrefix, noSuchPid), future, false},
		{"old, its owner runs", fmt.Sprintf("%s%d-1", workDirPrefix, os.Getpid()), future, true},
		{"young, its owner is gone", fmt.Sprintf("%s%d-1", workDirPrefix, noSuchPid), past, true},
		{"another program's", "other-1", future, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			parent := t.TempDir()
			dir := filepath.Join(parent, test.dir)
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			sweep(parent, test.before)
			if _, err := os.Stat(dir); (err == nil) != test.stays {
				t.Errorf("stays: %t, expected %t", err == nil, test.stays)
			}
		})
	}
}
