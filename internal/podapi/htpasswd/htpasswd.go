// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package htpasswd parses files of users and hashed passwords, which the operator creates and the auth proxy checks. It
// limits the number and length of lines, the lines per user, and the bcrypt cost.
package htpasswd

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	maxLineBytes = 1024
	// maxUserLines limits the cost of checking a wrong password. A user has two lines while the password is being
	// changed.
	maxUserLines = 8
	// maxFile is more than a Secret can have, and maxComplaints how many bad lines are reported.
	maxFile, maxComplaints = 4 << 20, 1000
)

// Complaint says what is wrong with a line. It quotes nothing from the line, which may contain a password.
type Complaint struct {
	Line   int
	Reason error
}

// Parse reads an htpasswd file. It skips bad lines, so that one of them does not lock out all users.
func Parse(text string) ([]*Line, []Complaint) {
	var found []*Line
	var bad []Complaint
	p := parser{users: map[string]int{}, seen: map[[2]string]bool{}}
	text = strings.TrimPrefix(text, "\ufeff") // Windows editors start files with it
	if len(text) > maxFile {
		return nil, []Complaint{{1, fmt.Errorf("the file is longer than %d bytes", maxFile)}}
	}
	number := 0
	for raw := range strings.SplitSeq(text, "\n") {
		number++
		l, err := p.line(strings.Trim(raw, " \t\r"))
		switch {
		case err != nil && len(bad) == maxComplaints:
		case err != nil:
			bad = append(bad, Complaint{number, err})
		case l != nil:
			found = append(found, l)
		}
	}
	return found, bad
}

// mostNamed is how many lines are named in a message.
const mostNamed = 3

// Unaffordable names the users whose lines have a cost of bcrypt above the limit, and what to do.
func Unaffordable(text string) []string {
	var out []string
	_, bad := Parse(text)
	for _, complaint := range bad {
		if costly := (*TooCostly)(nil); errors.As(complaint.Reason, &costly) && len(out) < mostNamed {
			out = append(out, fmt.Sprintf("user %s: %v", costly.User, costly))
		}
	}
	return out
}

// Usable reports whether an htpasswd file admits at least one user.
func Usable(text string) bool {
	found, _ := Parse(text)
	return len(found) > 0
}

// parser keeps track of the previous lines.
type parser struct {
	users map[string]int
	seen  map[[2]string]bool
}

// line returns nil for an empty line, a comment or a duplicate.
func (p *parser) line(text string) (*Line, error) {
	if text == "" || text[0] == '#' {
		return nil, nil
	}
	if err := printable(text); err != nil {
		return nil, err
	}
	user, hash, _ := strings.Cut(text, ":")
	if user == "" || hash == "" {
		return nil, errors.New("the line does not have the form user:hash")
	}
	if strings.TrimSpace(user) != user {
		return nil, errors.New("the user name ends with a blank")
	}
	if p.seen[[2]string{user, hash}] {
		return nil, nil
	}
	if p.users[user] == maxUserLines {
		return nil, fmt.Errorf("the user already has %d lines, which is the maximum", maxUserLines)
	}
	l, err := newLine(user, hash)
	if err != nil {
		return nil, err
	}
	p.users[user]++
	p.seen[[2]string{user, hash}] = true
	return l, nil
}

// printable returns an error for characters that are not allowed in the header that carries the user.
func printable(text string) error {
	switch {
	case len(text) > maxLineBytes:
		return fmt.Errorf("the line is longer than %d bytes", maxLineBytes)
	case !utf8.ValidString(text):
		return errors.New("the line is not valid UTF-8")
	case strings.ContainsFunc(text, unicode.IsControl):
		return errors.New("the line has control characters")
	}
	return nil
}
