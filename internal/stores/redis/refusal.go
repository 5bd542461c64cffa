// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redis

import (
	"errors"
	"fmt"
	"strings"

	goredis "github.com/redis/go-redis/v9"
)

// Refusal is what a process answers to a command that it does not carry out. Its text
// begins with a word in capitals, such as ERR, LOADING or NOAUTH.
type Refusal struct{ Text string }

func (r *Refusal) Error() string { return r.Text }

// refused reports whether an error is a refusal whose text has some words in it: Redis has
// no other way to tell one from another.
func refused(err error, words string) bool {
	var refusal *Refusal
	return errors.As(err, &refusal) && strings.Contains(refusal.Text, words)
}

// Barred reports whether an error is that a process does not let the user in, or do what it asks for.
func Barred(err error) bool {
	return refused(err, "WRONGPASS") || refused(err, "NOAUTH") || refused(err, "NOPERM")
}

// typed tells refusals from failures.
func typed(err error) error {
	if theirs, ok := errors.AsType[goredis.Error](err); ok {
		return &Refusal{Text: theirs.Error()}
	}
	return err
}

// name is a command without its arguments, as keys and passwords are among them.
func (c Command) name() string {
	var out []string
	for _, word := range c[:min(len(c), 2)] {
		out = append(out, fmt.Sprint(word))
	}
	if len(out) == 2 && !strings.EqualFold(out[0], "CLUSTER") {
		out = out[:1]
	}
	return strings.Join(out, " ")
}
