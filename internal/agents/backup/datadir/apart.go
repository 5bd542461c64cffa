// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package datadir

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/opcrew/opcrew/internal/agents/shared/tail"
	"github.com/opcrew/opcrew/internal/podapi/backup"
)

// Subcommand is the subcommand with which this program starts itself as a separate process that creates or verifies
// data directories; see Serve.
const Subcommand = "data-dir"

const (
	saidSize = 2 << 10
	// endTime is how long to wait for the end of a killed process.
	endTime = time.Second
)

// Job is a task for the separate process.
type Job struct {
	// Snapshot is the file to read, and Dir the directory to create.
	Snapshot, Dir string
	// Restore describes the member whose directory to create. If it is nil, the Job verifies the snapshot instead: it
	// compares the data with Meta, if that is set. A verification deletes the snapshot file as soon as the directory
	// exists, so it needs at most twice the size of the snapshot on disk.
	Restore *backup.Restore
	Meta    *backup.Meta
}

// Done is the result of a Job.
type Done struct {
	// Revision is the newest revision in the created directory.
	Revision     int64
	Verification *backup.Verification
	// Reason and Message describe a failure; both are "" after a success.
	Reason  backup.Reason
	Message string
}

// Runner executes a Job.
type Runner func(context.Context, Job) (Done, error)

// Apart executes a Job in a separate process: this program with Subcommand.
func Apart(ctx context.Context, j Job) (Done, error) {
	self, err := os.Executable()
	if err != nil {
		return Done{}, fmt.Errorf("find this program: %w", err)
	}
	text, err := json.Marshal(j)
	if err != nil {
		return Done{}, fmt.Errorf("encode the job: %w", err)
	}
	var answer bytes.Buffer
	said := tail.New(saidSize)
	child := exec.CommandContext(ctx, self, Subcommand)
	child.SysProcAttr, child.WaitDelay = attributes(), endTime
	child.Env = append(os.Environ(), "GOTRACEBACK=none") // a stack trace of etcd's code would not help users
	child.Stdin, child.Stdout, child.Stderr = bytes.NewReader(text), &answer, said
	err = child.Run()
	if ctx.Err() != nil {
		return Done{}, fmt.Errorf("create a data directory from the snapshot: %w", context.Cause(ctx))
	}
	var done Done
	if err != nil || json.Unmarshal(answer.Bytes(), &done) != nil {
		return Done{}, broke(err, said.Text())
	}
	if done.Message != "" {
		return done, backup.Fail(done.Reason, "%s", done.Message)
	}
	return done, nil
}

// broke returns the error for a process that ended without a result. A panic of etcd's code means a bad snapshot,
// unless its message is about the machine. If the process did not start, or was killed (for example because it ran out
// of memory), the snapshot may be good.
func broke(err error, said string) error {
	reason, words := backup.ReasonProcessFailed, cause(said)
	if strings.HasPrefix(words, "panic: ") {
		reason = reasonIn(said)
	}
	return backup.Fail(reason, "the process that reads the snapshot ended without a result (%v): %s", err, words)
}

// cause returns the line with the panic in the output of the process, or its last line if there is no panic.
func cause(text string) string {
	last := ""
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ") {
			return strings.TrimSpace(line)
		}
		if strings.TrimSpace(line) != "" {
			last = strings.TrimSpace(line)
		}
	}
	return last
}

// Serve is the main function of the separate process. It reads one Job, executes it and writes the result.
func Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	var j Job
	if err := json.NewDecoder(in).Decode(&j); err != nil {
		return fmt.Errorf("read the job: %w", err)
	}
	done, err := Run(ctx, j)
	if err != nil {
		done.Reason, done.Message = backup.ReasonOf(err, backup.ReasonProcessFailed), err.Error()
	}
	return json.NewEncoder(out).Encode(done)
}

// Run executes a Job in this process. etcd's code may terminate the process meanwhile.
func Run(ctx context.Context, j Job) (Done, error) {
	if j.Restore != nil {
		revision, err := makeDir(j.Snapshot, j.Dir, *j.Restore)
		return Done{Revision: revision}, err
	}
	revision, err := makeDir(j.Snapshot, j.Dir, proofMember())
	if err != nil {
		return Done{}, err
	}
	os.Remove(j.Snapshot)
	v, err := prove(ctx, filepath.Clean(j.Dir), j.Meta)
	return Done{Revision: revision, Verification: &v}, err
}
