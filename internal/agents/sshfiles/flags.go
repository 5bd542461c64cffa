// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package sshfiles

import (
	"errors"
	"flag"
	"io"

	"github.com/opcrew/opcrew/internal/agents/shared/flags"
)

// Options tell what to keep in step with what.
type Options struct {
	// From is the directory of a mounted Secret, To the directory of the files.
	From, To string
	// InPlace, if any, is a second directory of them, whose files are overwritten where they
	// are: for those that are mounted one by one.
	InPlace string
	// Require names files without which nothing is served.
	Require []string
	// Check has the command report whether the files are there, and end.
	Check bool
}

// ParseFlags reads a command line. It prints to out what --help asks for; an error
// is for the caller to print.
func ParseFlags(args []string, out io.Writer) (Options, error) {
	var o Options
	if err := flags.Parse("ssh-files", args, out, o.bind); err != nil {
		return o, err
	}
	return o, o.validate()
}

func (o *Options) bind(set *flag.FlagSet) {
	set.StringVar(&o.From, "from", "", "`directory` of a mounted Secret")
	set.StringVar(&o.To, "to", "", "`directory` that the files are kept in")
	set.StringVar(&o.InPlace, "in-place", "", "another `directory`, whose files are overwritten where they are")
	set.Func("require", "`file` without which nothing is served; repeatable", func(name string) error {
		o.Require = append(o.Require, name)
		return nil
	})
	set.BoolVar(&o.Check, "check", false, "tell by the exit code whether the files in --to are there, and end")
}

func (o *Options) validate() error {
	switch {
	case o.To == "":
		return errors.New("--to is needed: the directory that the files are kept in")
	case o.From == "" && !o.Check:
		return errors.New("--from is needed: the directory of a mounted Secret")
	}
	return nil
}
