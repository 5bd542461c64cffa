// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Command step runs one step of a long make target. It prints one line with the step's progress, elapsed time and
// expected time. It writes the command's output to a file. If the command fails, it prints the end of this file.
//
// On a terminal, step rewrites the line every second. Elsewhere it prints a line for a long step after 5 seconds, and
// then every 30 seconds.
//
// step only imports the standard library, so that make can build it before it downloads any module.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

func main() {
	s, err := parse(os.Args[1:])
	if err == nil {
		err = s.run(os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "step:", err)
		os.Exit(1)
	}
}

// step is a command to run, and the options for how its progress is shown.
type step struct {
	title
	log     string
	show    bool
	count   *regexp.Regexp // matches output lines that count as units of work; nil if none do
	command []string
}

func parse(args []string) (*step, error) {
	s := &step{}
	flags := flag.NewFlagSet("step", flag.ContinueOnError)
	flags.IntVar(&s.number, "n", 1, "number of this step")
	flags.IntVar(&s.of, "of", 1, "number of steps")
	flags.DurationVar(&s.expected, "expect", 0, "expected duration on two idle processors without caches")
	flags.IntVar(&s.total, "total", 0, "maximum number of units of work, if it is known")
	flags.StringVar(&s.unit, "unit", "", "name of the units of work")
	flags.StringVar(&s.log, "log", "", "file to which the output of the command is written")
	flags.BoolVar(&s.show, "show", false, "print the output of the command below the line")
	count := flags.String("count", "", "regular expression for the lines of output that count as units of work")
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	if flags.NArg() < 2 || s.log == "" {
		return nil, fmt.Errorf("usage: step -log FILE [FLAG...] NAME COMMAND [ARGUMENT...]")
	}
	s.name, s.command = flags.Arg(0), flags.Args()[1:]
	if *count == "" {
		return s, nil
	}
	var err error
	s.count, err = regexp.Compile(*count)
	return s, err
}

// run executes the command. The command's output is a file instead of a pipe, because a pipe would block the step as
// long as background processes of the command hold it open.
func (s *step) run(out *os.File) error {
	if err := os.MkdirAll(filepath.Dir(s.log), 0o755); err != nil {
		return err
	}
	log, err := os.Create(s.log)
	if err != nil {
		return err
	}
	defer log.Close()
	command := exec.Command(s.command[0], s.command[1:]...)
	command.Stdin, command.Stdout, command.Stderr = os.Stdin, log, log
	start := time.Now()
	if err := command.Start(); err != nil {
		return err
	}
	done := make(chan error, 1)
	go func() { done <- command.Wait() }()
	return s.follow(newScreen(out), start, done)
}

// follow shows the progress until the command ends, and returns the command's error.
func (s *step) follow(screen *screen, start time.Time, done <-chan error) error {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	output := &tail{file: s.log, count: s.count}
	for {
		select {
		case <-tick.C:
			if err := output.read(); err != nil {
				return err
			}
			elapsed := time.Since(start)
			screen.progress(s.running(elapsed, output.units), elapsed)
		case err := <-done:
			return s.end(screen, output, time.Since(start), err)
		}
	}
}

func (s *step) end(screen *screen, output *tail, elapsed time.Duration, failure error) error {
	if err := output.read(); err != nil {
		return err
	}
	if failure != nil {
		screen.line(s.failed(elapsed))
		screen.line(strings.Join(output.last, "\n"))
		return fmt.Errorf("%s: %w; the whole output is in %s", s.name, failure, s.log)
	}
	screen.line(s.done(elapsed, output.units))
	if s.show && len(output.last) > 0 {
		screen.line(strings.Join(output.last, "\n"))
	}
	return nil
}
