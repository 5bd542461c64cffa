// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redisserver

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/opcrew/opcrew/internal/stores/redis/clusternodes"
)

const (
	nodesFile = "nodes.conf"
	logFolder = "appendonlydir"
	// manifest names the files of the log. Without it a server takes whatever else is in the
	// folder for nothing, and writes over it.
	manifest = logFolder + "/appendonly.aof.manifest"
)

// facts are what a folder holds.
type facts struct {
	own     *clusternodes.Node // the line of nodes.conf about itself; nil: there is none
	log     bool               // whether there is a log of writes that a server starts from
	remains bool               // whether there are files of a log, though no log
}

// look reads a folder. What cannot be read is an error, never taken for empty.
func look(folder string) (facts, error) {
	own, err := ownLine(filepath.Join(folder, nodesFile))
	if err != nil {
		return facts{}, err
	}
	f := facts{own: own}
	if _, err = os.Stat(filepath.Join(folder, manifest)); err == nil {
		f.log = true
		return f, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return f, fmt.Errorf("look for the log: %w", err)
	}
	entries, err := os.ReadDir(filepath.Join(folder, logFolder))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return f, fmt.Errorf("look for the log: %w", err)
	}
	f.remains = len(entries) > 0
	return f, nil
}

func ownLine(path string) (*clusternodes.Node, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read who the server was: %w", err)
	}
	nodes, err := clusternodes.Parse(string(text))
	if err != nil {
		return nil, fmt.Errorf("read who the server was: %w", err)
	}
	own, found := clusternodes.Myself(nodes)
	if !found {
		return nil, nil // an empty file is that of a new node; others the server refuses by itself
	}
	return &own, nil
}

// putAside renames a folder, with all that is in it, so that the next start finds none. One
// rename is done or not done, whatever comes in between.
func putAside(folder string) (string, error) {
	for i := 1; ; i++ {
		aside := fmt.Sprintf("%s.lost-%d", folder, i)
		_, err := os.Lstat(aside)
		if err == nil {
			continue
		}
		if errors.Is(err, fs.ErrNotExist) {
			err = os.Rename(folder, aside)
		}
		if err != nil {
			return "", fmt.Errorf("put the folder aside: %w", err)
		}
		return aside, nil
	}
}
