// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package drift

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	gopath "path"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/opcrew/opcrew/internal/agents/machine/ledger"
)

// events are the changes of names, contents and attributes in a directory, and its own removal.
const events = unix.IN_CREATE | unix.IN_DELETE | unix.IN_MOVED_FROM | unix.IN_MOVED_TO | unix.IN_CLOSE_WRITE | unix.IN_ATTRIB |
	unix.IN_DELETE_SELF | unix.IN_MOVE_SELF | unix.IN_ONLYDIR

// gone are events after which a watch no longer sees the path, or events were lost.
const gone = unix.IN_DELETE_SELF | unix.IN_MOVE_SELF | unix.IN_Q_OVERFLOW | unix.IN_IGNORED

// Watcher reports changes beside the paths of a ledger.
type Watcher struct {
	// C receives a value after one or more changes.
	C    chan struct{}
	root string
	// open creates the descriptor of a watch, and file is it; nil until Set needs it.
	open  func() (int, error)
	file  *os.File
	mutex sync.Mutex
	// dirs has the names to watch in each directory, by the number of its watch.
	dirs map[int32]map[string]bool
}

// NewWatcher returns a Watcher for the paths below a root directory.
func NewWatcher(root string) *Watcher {
	open := func() (int, error) { return unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK) }
	return &Watcher{C: make(chan struct{}, 1), root: root, open: open, dirs: map[int32]map[string]bool{}}
}

// Close ends the Watcher.
func (w *Watcher) Close() error {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if w.file == nil {
		return nil
	}
	return w.file.Close()
}

// start is repeated by each Set, because all programs of root share the few descriptors of a host.
func (w *Watcher) start() error {
	if w.file != nil {
		return nil
	}
	fd, err := w.open()
	if err != nil {
		return fmt.Errorf("watch files: %w", err)
	}
	w.file = os.NewFile(uintptr(fd), "inotify")
	go w.run(w.file)
	return nil
}

// Set watches the parents of the paths of a ledger, and no others. Call it after each change of the ledger and after
// each report, because a directory that was replaced needs a new watch.
func (w *Watcher) Set(l ledger.Ledger) error {
	names := map[string]map[string]bool{}
	for key := range l.Records {
		if key.Kind != ledger.Path && key.Kind != ledger.Keys && key.Kind != ledger.Boot {
			continue
		}
		dir := gopath.Dir(key.Name)
		if names[dir] == nil {
			names[dir] = map[string]bool{}
		}
		names[dir][gopath.Base(key.Name)] = true
	}
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if err := w.start(); err != nil {
		return err
	}
	old := w.dirs
	w.dirs = map[int32]map[string]bool{}
	var errs []error
	for dir, watched := range names {
		errs = append(errs, w.add(dir, watched))
	}
	for watch := range old {
		if _, kept := w.dirs[watch]; !kept {
			_, _ = unix.InotifyRmWatch(int(w.file.Fd()), uint32(watch)) // the directory may be gone
		}
	}
	return errors.Join(errs...)
}

// add watches a directory. One that is missing needs no watch: the scan that follows each Set finds that.
func (w *Watcher) add(dir string, names map[string]bool) error {
	how := unix.OpenHow{Flags: unix.O_PATH | unix.O_DIRECTORY | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS}
	fd, err := unix.Openat2(unix.AT_FDCWD, gopath.Join(w.root, dir), &how)
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ELOOP) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("watch %s: %w", dir, err)
	}
	defer func() { _ = unix.Close(fd) }()
	watch, err := unix.InotifyAddWatch(int(w.file.Fd()), "/proc/self/fd/"+strconv.Itoa(fd), events)
	if err != nil {
		return fmt.Errorf("watch %s: %w", dir, err)
	}
	w.dirs[int32(watch)] = names
	return nil
}

// run reads events until the Watcher is closed.
func (w *Watcher) run(file *os.File) {
	buffer := make([]byte, 64<<10)
	for {
		n, err := file.Read(buffer)
		if err != nil {
			return
		}
		if w.concerns(buffer[:n]) {
			select {
			case w.C <- struct{}{}:
			default: // a report is already waiting
			}
		}
	}
}

// concerns reports whether one of the events is about a watched name.
func (w *Watcher) concerns(text []byte) bool {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	for len(text) >= unix.SizeofInotifyEvent {
		watch := int32(binary.NativeEndian.Uint32(text))
		mask := binary.NativeEndian.Uint32(text[4:])
		length := int(binary.NativeEndian.Uint32(text[12:]))
		text = text[unix.SizeofInotifyEvent:]
		if length > len(text) {
			return true
		}
		name, _, _ := bytes.Cut(text[:length], []byte{0})
		text = text[length:]
		names, known := w.dirs[watch]
		if mask&unix.IN_Q_OVERFLOW != 0 || known && (mask&gone != 0 || names[string(name)]) {
			return true
		}
	}
	return false
}
