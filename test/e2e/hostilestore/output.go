// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"
)

const (
	// terminationLog is the file from which the kubelet reads why a container ended.
	terminationLog = "/dev/termination-log"
	// pause is the time between two blocks of endless output. Without it the output would fill the disk of the node.
	pause = 50 * time.Millisecond
)

// agent acts as the agent of a Diva's pods, whose log the operator reads while it rotates keys. The kubelet also runs
// the agent as a probe, which must succeed.
func agent(args []string) error {
	if slices.Contains(args, "--check") {
		return nil
	}
	return lie(os.Stdout)
}

// lie writes reports that are forged, too long, too deep or damaged. Then it writes a line without end.
func lie(out io.Writer) error {
	block := strings.Repeat("x", 64<<10)
	for _, report := range []string{
		forged(strings.Repeat("a", 24)),
		forged(strings.Repeat("a", 1<<20)),
		forged("../../\x00\u202e"),
		strings.Repeat(`{"msg":`, 100_000),
		strings.Repeat("\n", 100_000),
		"\xff\xfe\x00",
	} {
		if _, err := fmt.Fprintln(out, report); err != nil {
			return err
		}
	}
	for {
		if _, err := io.WriteString(out, block); err != nil {
			return err
		}
		time.Sleep(pause)
	}
}

func forged(digest string) string { return fmt.Sprintf(`{"msg":"Serving","digest":%q}`, digest) }

// exporter ends with a huge termination message, which the kubelet puts into the status of the pod.
func exporter() error {
	message := strings.Repeat("\x00\x1b[2J<script>\u202e%s%d{}\n", 50_000)
	fmt.Println(message)
	return errors.Join(errors.New("ended on purpose"), os.WriteFile(terminationLog, []byte(message), 0o600))
}
