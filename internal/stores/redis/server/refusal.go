// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"errors"
	"fmt"
	"strings"

	goredis "github.com/redis/go-redis/v9"

	"github.com/opcrew/opcrew/internal/stores/plain"
)

// Refusal is the answer of a process that does not carry out a command. It begins with a word in capitals, such as ERR, LOADING
// or NOAUTH.
type Refusal struct{ Text string }

func (r *Refusal) Error() string { return r.Text }

// Refused reports whether an error is a refusal that contains some words: Redis has no error codes.
func Refused(err error, words string) bool {
	var refusal *Refusal
	return errors.As(err, &refusal) && strings.Contains(refusal.Text, words)
}

// AccessDenied reports whether an error says that a process refused the user, or what the user asked for.
func AccessDenied(err error) bool {
	return Refused(err, "WRONGPASS") || Refused(err, "NOAUTH") || Refused(err, "NOPERM")
}

// typed turns answers of a server into refusals.
func typed(err error) error {
	if theirs, ok := errors.AsType[goredis.Error](err); ok {
		return &Refusal{Text: plain.Line(theirs.Error(), mostRefusal)}
	}
	return err
}

// name is a command without its arguments, which may be keys or passwords.
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
