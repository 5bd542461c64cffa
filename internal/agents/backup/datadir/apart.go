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

// Subcommand is what the program is to be called with to do one Job; see Serve.
const Subcommand = "data-dir"

const (
	saidSize = 2 << 10
	// endTime is how long a process that was killed may take to be gone.
	endTime = time.Second
)

// Job is what a process of its own does.
type Job struct {
	// Snapshot is the file to read, and Dir the directory to make.
	Snapshot, Dir string
	// Restore is whose directory it becomes; nil: it is to be proven, by Meta if there is one.
	// The snapshot is removed on the way then, so that there is never more on the disk than twice
	// its size.
	Restore *backup.Restore
	Meta    *backup.Meta
}

// Done is what has come of it.
type Done struct {
	// Revision is what the directory ends at.
	Revision     int64
	Verification *backup.Verification
	// Reason and Message tell what has failed; "": nothing.
	Reason  backup.Reason
	Message string
}

// Runner does a Job.
type Runner func(context.Context, Job) (Done, error)

// Apart does a Job in a process of its own: the running program, called with Subcommand.
func Apart(ctx context.Context, j Job) (Done, error) {
	self, err := os.Executable()
	if err != nil {
		return Done{}, fmt.Errorf("find this program: %w", err)
	}
	text, err := json.Marshal(j)
	if err != nil {
		return Done{}, fmt.Errorf("encode what to do: %w", err)
	}
	var answer bytes.Buffer
	said := tail.New(saidSize)
	child := exec.CommandContext(ctx, self, Subcommand)
	child.SysProcAttr, child.WaitDelay = attributes(), endTime
	child.Env = append(os.Environ(), "GOTRACEBACK=none") // where in etcd's code it was helps no one here
	child.Stdin, child.Stdout, child.Stderr = bytes.NewReader(text), &answer, said
	err = child.Run()
	if ctx.Err() != nil {
		return Done{}, fmt.Errorf("make a data directory of the snapshot: %w", context.Cause(ctx))
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

// broke says what the end of a process that gave no answer says of the snapshot: a panic of etcd's that is not
// about the machine does. One that was killed, for its memory for example, or never began has found nothing.
func broke(err error, said string) error {
	reason, words := backup.ReasonProcessFailed, cause(said)
	if strings.HasPrefix(words, "panic: ") {
		reason = reasonIn(said)
	}
	return backup.Fail(reason, "the process that reads the snapshot broke off (%v): %s", err, words)
}

// cause is the line that a program ends with: the one that reports a panic, or the last one.
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

// Serve is the other end: it does the one Job that it reads.
func Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	var j Job
	if err := json.NewDecoder(in).Decode(&j); err != nil {
		return fmt.Errorf("read what to do: %w", err)
	}
	done, err := Run(ctx, j)
	if err != nil {
		done.Reason, done.Message = backup.ReasonOf(err, backup.ReasonProcessFailed), err.Error()
	}
	return json.NewEncoder(out).Encode(done)
}

// Run does a Job in this process, which etcd's code can end.
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
