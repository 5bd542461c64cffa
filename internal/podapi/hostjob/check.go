// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package hostjob

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

const maxUID = 128

// Check returns all errors of an order. Its messages contain no values from the order, because users who may not read
// the order may see the messages.
func (o *Order) Check() error {
	return errors.Join(
		demand(IsUID(o.UID), "uid must have only letters, digits and dashes, and at most 128 characters"),
		demand(o.Run >= 1, "run must be 1 or more"),
		demand(!o.Created.IsZero(), "created is missing"),
		demand((o.Command == "") != (len(o.Args) == 0), "exactly one of command and args must be set"),
		demand(len(o.Args) == 0 || o.Args[0] != "", "args must begin with the program to execute"),
		demand(strings.HasPrefix(o.Dir, "/"), "dir must be an absolute path, such as /var/tmp"),
		checkUser(o.User),
		demand(o.SSH == nil || o.SSH.Host != "" && o.SSH.Port != "", "ssh must have a host and a port"),
		checkSeconds("timeoutSeconds", o.TimeoutSeconds),
		checkSeconds("graceSeconds", o.GraceSeconds),
		checkEnvs(o.Envs),
		checkSecretEnvs(o.SecretEnvs),
		o.checkNUL(),
	)
}

// IsUID reports whether a text can be the UID of an Activity. The UID becomes part of a file name on the host.
func IsUID(text string) bool { return plain(text, "-") && len(text) <= maxUID }

func demand(ok bool, text string) error {
	if ok {
		return nil
	}
	return errors.New(text)
}

// checkUser refuses names that could be misread in files of the host or as command line options. Whether the user
// exists is only checked on the host.
func checkUser(user string) error {
	return demand(user != "" && !strings.HasPrefix(user, "-") && !strings.ContainsAny(user, ":\n"),
		"user must not begin with a dash, and must not contain colons or line breaks")
}

func checkSeconds(field string, seconds int) error {
	if seconds < 0 || seconds > math.MaxInt32 {
		return fmt.Errorf("%s must be from 0 to %d", field, math.MaxInt32)
	}
	return nil
}

func checkEnvs(envs []string) error {
	for i, env := range envs {
		name, _, ok := strings.Cut(env, "=")
		if !ok || !isEnvName(name) {
			return fmt.Errorf("envs[%d] does not have the form KEY=value", i)
		}
	}
	return nil
}

func checkSecretEnvs(envs map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(envs)) {
		if !isEnvName(name) {
			return fmt.Errorf("secretEnvs: %q is not the name of a variable", name)
		}
		if file := envs[name]; !plain(file, "-._") || strings.HasPrefix(file, "..") || file == "." {
			return fmt.Errorf("secretEnvs: the file of %s is not a key of a Secret", name)
		}
	}
	return nil
}

// checkNUL refuses NUL bytes. Linux would cut off an argument at the NUL byte, so a command other than the one in the
// order (its description by the operator) would run.
func (o *Order) checkNUL() error {
	for _, text := range slices.Concat([]string{o.Command, o.User, o.Dir, o.BootID}, o.Args, o.Envs) {
		if strings.ContainsRune(text, 0) {
			return errors.New("the order contains a NUL character, which no process can receive")
		}
	}
	return nil
}

// isEnvName reports whether Kubernetes accepts a name for an environment variable.
func isEnvName(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r > '~' || r == '=' })
}

func plain(text, others string) bool {
	return text != "" && !strings.ContainsFunc(text, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune(others, r)
	})
}
