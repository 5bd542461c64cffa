// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package htpasswd parses htpasswd files, which contain users and hashed passwords. The operator creates these files,
// and the auth proxy checks passwords against them. The package limits the number and length of lines, the lines per
// user, and the bcrypt cost.
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
	// maxUserLines is the maximum number of lines per user, which limits the cost of checking a wrong password. A user
	// has two lines while the password is being changed.
	maxUserLines = 8
	// maxFile is the maximum file size in bytes; a Secret cannot hold that much. maxComplaints is how many bad lines
	// are reported.
	maxFile, maxComplaints = 4 << 20, 1000
)

// Complaint describes what is wrong with a line. It quotes nothing from the line, because the line may contain a
// password.
type Complaint struct {
	Line   int
	Reason error
}

// Parse parses an htpasswd file. It skips bad lines, so that one of them does not lock out all users.
func Parse(text string) ([]*Line, []Complaint) {
	var found []*Line
	var bad []Complaint
	p := parser{users: map[string]int{}, seen: map[[2]string]bool{}}
	text = strings.TrimPrefix(text, "\ufeff") // Windows editors put this byte order mark at the start of files
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

// mostNamed is how many bad lines of an htpasswd file a message names at most.
const mostNamed = 3

// Unaffordable returns messages about lines whose bcrypt cost is too high. Each message names the user and what to do.
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

// parser remembers the previous lines, to detect duplicates and too many lines of a user.
type parser struct {
	users map[string]int
	seen  map[[2]string]bool
}

// line parses one line of an htpasswd file. It returns nil for an empty line, a comment or a duplicate.
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

// printable returns an error if a user name contains characters that are not allowed in the HTTP header that carries
// it.
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
