// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package sshfiles

import (
	"errors"
	"flag"
	"io"

	"github.com/opcrew/opcrew/internal/agents/shared/flags"
	"github.com/opcrew/opcrew/internal/podapi/sshkeys"
)

// Options holds the settings from the command line.
type Options struct {
	// From is the directory of the mounted Secret. To is the directory for the copies.
	From, To string
	// InPlace, if set, is a second directory for copies. Its files are overwritten in place, because each of them is
	// mounted separately.
	InPlace string
	// Require lists files that the Secret must contain before any file is written.
	Require []string
	// Host, if set, is a host name. The key pair of this host is derived from the seed, a file in the Secret. All hosts
	// share the seed, which is secret.
	Host string
	// Check makes the command only report whether the files exist.
	Check bool
}

// ParseFlags parses the command line. It prints the help to out, and returns errors for the caller to print.
func ParseFlags(args []string, out io.Writer) (Options, error) {
	var o Options
	if err := flags.Parse("ssh-files", args, out, o.bind); err != nil {
		return o, err
	}
	return o, o.validate()
}

func (o *Options) bind(set *flag.FlagSet) {
	set.StringVar(&o.From, "from", "", "`directory` of a mounted Secret")
	set.StringVar(&o.To, "to", "", "`directory` for the files")
	set.StringVar(&o.InPlace, "in-place", "", "second `directory`, whose files are overwritten in place")
	set.Func("require", "`file` that the Secret must contain before any file is written; repeatable", func(name string) error {
		o.Require = append(o.Require, name)
		return nil
	})
	set.StringVar(&o.Host, "host-key-of", "", "`name` of the host whose key is derived from the seed in file "+sshkeys.SeedFile)
	set.BoolVar(&o.Check, "check", false, "only report by the exit code whether the files in --to exist")
}

func (o *Options) validate() error {
	switch {
	case o.To == "":
		return errors.New("--to must be set to the directory for the files")
	case o.From == "" && !o.Check:
		return errors.New("--from must be set to the directory of a mounted Secret")
	}
	return nil
}
