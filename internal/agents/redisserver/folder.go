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
	// manifest is the file that lists the append-only files. Without it, a server ignores and overwrites these files.
	manifest = logFolder + "/appendonly.aof.manifest"
)

// facts describes the content of a server's folder.
type facts struct {
	own     *clusternodes.Node // the server's own line in nodes.conf; nil if there is none
	log     bool               // whether there is an append-only file to start from
	remains bool               // whether there are append-only files without a manifest
}

// look reads the folder of a server. An unreadable folder is an error, and never counts as empty.
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
		return f, fmt.Errorf("search for the append-only file: %w", err)
	}
	entries, err := os.ReadDir(filepath.Join(folder, logFolder))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return f, fmt.Errorf("search for the append-only file: %w", err)
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
		return nil, fmt.Errorf("read the identity of the server in nodes.conf: %w", err)
	}
	nodes, err := clusternodes.Parse(string(text))
	if err != nil {
		return nil, fmt.Errorf("read the identity of the server in nodes.conf: %w", err)
	}
	own, found := clusternodes.Myself(nodes)
	if !found {
		// For a new node, nodes.conf may be empty. The server itself refuses an invalid file.
		return nil, nil
	}
	return &own, nil
}

// putAside renames a folder atomically, so that the server does not find it at its next start.
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
			return "", fmt.Errorf("rename the folder: %w", err)
		}
		return aside, nil
	}
}
