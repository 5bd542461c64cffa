// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package sshfiles

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"k8s.io/utils/clock"

	"github.com/opcrew/opcrew/internal/podapi/sshkeys"
)

const (
	// pollInterval is how often the Secret is checked. The interval is short compared with the minute that a kubelet
	// may take to update the files of a mounted Secret.
	pollInterval = time.Second
	// marker is a file that is created last. If it exists, all other files exist too.
	marker = ".serving"
)

// Keeper copies the files of a mounted Secret, and keeps the copies up to date.
type Keeper struct {
	options Options
	clock   clock.WithTicker
	log     *slog.Logger

	served  string // the last logged digest
	problem string // the last problem; each problem is logged only once
}

// New returns a Keeper with the given options.
func New(options Options, clock clock.WithTicker, log *slog.Logger) *Keeper {
	return &Keeper{options: options, clock: clock, log: log}
}

// Run updates the copies until ctx ends. After an error it logs the error and tries again; existing copies stay.
func (k *Keeper) Run(ctx context.Context) error {
	ticker := k.clock.NewTicker(pollInterval)
	defer ticker.Stop()
	for {
		k.look()
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C():
		}
	}
}

func (k *Keeper) look() {
	digest, err := k.serve()
	switch {
	case err != nil && err.Error() != k.problem:
		k.problem = err.Error()
		k.log.Error("The files differ from the Secret", "error", k.problem, "kept", k.served)
	case err == nil && (digest != k.served || k.problem != ""):
		k.served, k.problem = digest, ""
		k.log.Info(sshkeys.Serving, "digest", digest)
	}
}

// serve writes the files of the Secret and returns their digest.
func (k *Keeper) serve() (string, error) {
	files, err := read(k.options.From)
	if err != nil {
		return "", err
	}
	if lacks := missing(files, k.options.Require); len(lacks) > 0 {
		return "", errors.New("the Secret does not contain all required files; missing are " + strings.Join(lacks, ", "))
	}
	if files, err = sshkeys.OwnFiles(files, k.options.Host); err != nil {
		return "", err
	}
	digest := sshkeys.Digest(files)
	if digest == k.served {
		return digest, nil
	}
	if err := put(k.options.To, files, replace); err != nil {
		return "", err
	}
	if k.options.InPlace != "" {
		if err := put(k.options.InPlace, files, overwrite); err != nil {
			return "", err
		}
	}
	return digest, replace(k.options.To, marker, []byte(digest))
}

// put writes files into a directory. It does not delete files that the Secret no longer contains, because ssh keys are
// only replaced and never removed.
func put(dir string, files map[string][]byte, how func(dir, name string, content []byte) error) error {
	if err := open(dir); err != nil {
		return fmt.Errorf("create %s: %w", dir, err)
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := how(dir, name, files[name]); err != nil {
			return fmt.Errorf("write %s: %w", filepath.Join(dir, name), err)
		}
	}
	return nil
}

// Check returns an error if the files have not been written yet. The startup probe of a pod uses it.
func Check(options Options) error {
	if _, err := os.Stat(filepath.Join(options.To, marker)); err != nil {
		return fmt.Errorf("the files have not been written yet: %w", err)
	}
	return nil
}
