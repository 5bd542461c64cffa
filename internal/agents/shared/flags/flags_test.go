// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package flags

import (
	"bytes"
	"errors"
	"flag"
	"slices"
	"strings"
	"testing"
)

func TestACommandLineIsRead(t *testing.T) {
	for _, test := range []struct {
		args      string
		value     string
		rest      []string
		all, some string // expected errors of Parse and ParseSome
	}{
		{"", "", nil, "", ""},
		{"--to a", "a", nil, "", ""},
		{"-to=a more --to b", "a", []string{"more", "--to", "b"}, `"more" is not a flag`, ""},
		{"--to a -- --to b", "a", []string{"--to", "b"}, `"--to" is not a flag`, ""},
		{"--what", "", nil, "flag provided but not defined: -what", "flag provided but not defined: -what"},
	} {
		t.Run(test.args, func(t *testing.T) {
			var out bytes.Buffer
			var value string
			bind := func(set *flag.FlagSet) { set.StringVar(&value, "to", "", "`place`") }
			args := strings.Fields(test.args)
			if err := Parse("test", args, &out, bind); text(err) != test.all {
				t.Errorf("the error is %v, expected %q", err, test.all)
			}
			rest, err := ParseSome("test", args, &out, bind)
			if text(err) != test.some || value != test.value || !slices.Equal(rest, test.rest) {
				t.Errorf("got %q and %q, error %v", value, rest, err)
			}
			if out.Len() > 0 {
				t.Errorf("printed %q: errors are for the caller to print", out.String())
			}
		})
	}
}

func TestHelpListsTheFlags(t *testing.T) {
	var out bytes.Buffer
	err := Parse("test", []string{"--help"}, &out, func(set *flag.FlagSet) { set.String("to", "", "`place`") })
	if !errors.Is(err, flag.ErrHelp) || !strings.Contains(out.String(), "-to place") {
		t.Errorf("the error is %v and the help %q", err, out.String())
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
