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

// Refusal is the error answer of a server that does not execute a command. It begins with a word in capitals, such as
// ERR, LOADING or NOAUTH.
type Refusal struct{ Text string }

func (r *Refusal) Error() string { return r.Text }

// Refused reports whether an error is a refusal that contains the given words. Redis has no error codes.
func Refused(err error, words string) bool {
	var refusal *Refusal
	return errors.As(err, &refusal) && strings.Contains(refusal.Text, words)
}

// AccessDenied reports whether a server refused the user's login or denied the user a command.
func AccessDenied(err error) bool {
	return Refused(err, "WRONGPASS") || Refused(err, "NOAUTH") || Refused(err, "NOPERM")
}

// typed converts error answers of a server to refusals.
func typed(err error) error {
	if theirs, ok := errors.AsType[goredis.Error](err); ok {
		return &Refusal{Text: plain.Line(theirs.Error(), mostRefusal)}
	}
	return err
}

// name returns a command without its arguments, because these may be keys or passwords.
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
