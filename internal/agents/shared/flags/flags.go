// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package flags reads the command lines of the helper's subcommands, all in the same way.
package flags

import (
	"errors"
	"flag"
	"fmt"
	"io"
)

// Parse reads a command line that has only flags. It prints to out what --help asks for; an
// error is for the caller to print.
func Parse(name string, args []string, out io.Writer, bind func(*flag.FlagSet)) error {
	rest, err := ParseSome(name, args, out, bind)
	if err == nil && len(rest) > 0 {
		err = fmt.Errorf("%q is not a flag", rest[0])
	}
	return err
}

// ParseSome is Parse for a command line that has more behind its flags, which it gives.
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
