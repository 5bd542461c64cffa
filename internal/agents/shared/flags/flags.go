// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package flags parses the command lines of all subcommands of the agent in the same way. It does not validate values.
package flags

import (
	"errors"
	"flag"
	"fmt"
	"io"
)

// Parse parses a command line that must contain only flags. It prints the help to out, and returns errors for the
// caller to print.
func Parse(name string, args []string, out io.Writer, bind func(*flag.FlagSet)) error {
	rest, err := ParseSome(name, args, out, bind)
	if err == nil && len(rest) > 0 {
		err = fmt.Errorf("%q is not a flag", rest[0])
	}
	return err
}

// ParseSome parses a command line that may have arguments after the flags, and returns these arguments.
func ParseSome(name string, args []string, out io.Writer, bind func(*flag.FlagSet)) ([]string, error) {
	set := flag.NewFlagSet(name, flag.ContinueOnError)
	bind(set)
	set.SetOutput(io.Discard)
	set.Usage = func() {}
	err := set.Parse(args)
	if errors.Is(err, flag.ErrHelp) {
		set.SetOutput(out)
		set.PrintDefaults()
	}
	return set.Args(), err
}
