// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package proc

import (
	"os"
	"os/exec"
	"testing"
	"time"
)

func TestParseStatSurvivesOddCommandNames(t *testing.T) {
	line := "42 (a) b (c)) S 1 42 42 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 987654 1 2"
	got, err := parseStat([]byte(line))
	if err != nil {
		t.Fatal(err)
	}
	if got.state != 'S' || got.start != 987654 || got.exiting() {
		t.Errorf("got %+v", got)
	}
}

func TestParseStatRefusesATruncatedLine(t *testing.T) {
	for _, line := range []string{"", "42 sleep S", "42 (sleep) S 1 2"} {
		if _, err := parseStat([]byte(line)); err == nil {
			t.Errorf("%q was accepted", line)
		}
	}
}

func TestAnInitThatWaitsForItsNamespaceIsExiting(t *testing.T) {
	got, err := parseStat([]byte("42 (init) S 1 42 42 0 -1 4194564 1 2 3 4 5 6 7 8 20 0 1 0 987654 1 2"))
	if err != nil {
		t.Fatal(err)
	}
	if !got.exiting() || got.dead() {
		t.Errorf("got %+v", got)
	}
}

func TestAReusedPidIsAnotherProcess(t *testing.T) {
	self, err := Of(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if !self.Alive() {
		t.Error("this process does not count as alive")
	}
	earlier, otherBoot := self, self
	earlier.Start--
	otherBoot.Boot = "another"
	if earlier.Alive() || otherBoot.Alive() {
		t.Error("another process with the same pid counts as alive")
	}
}

func TestKillEndsTheProcessAndAZombieCountsAsEnded(t *testing.T) {
	cmd := exec.Command("sleep", "60")
	if err := cmd.Start(); err != nil {
		t.Skip(err)
	}
	defer func() { _ = cmd.Wait() }()
	id, err := Of(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	if err := id.Kill(5 * time.Second); err != nil {
		t.Fatal(err)
	}
}
