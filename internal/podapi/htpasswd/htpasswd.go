// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package htpasswd reads the files of users and hashed passwords that the operator makes and the proxy in front of an
// application checks. It bounds what a file can cost: lines, their length, lines of a user, and the cost of bcrypt.
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
	// maxUserLines bounds what one wrong password costs. Two are in use while a
	// password is changed.
	maxUserLines = 8
)

// Complaint is what is wrong with a line. It quotes no part of it: what does not parse may
// well be a password.
type Complaint struct {
	Line   int
	Reason error
}

// Parse reads an htpasswd file. Bad lines are left out, so that one of them does not
// lock all users out.
func Parse(text string) ([]*Line, []Complaint) {
	var found []*Line
	var bad []Complaint
	p := parser{users: map[string]int{}, seen: map[[2]string]bool{}}
	text = strings.TrimPrefix(text, "\ufeff") // Windows editors begin a file with it
	number := 0
	for raw := range strings.SplitSeq(text, "\n") {
		number++
		l, err := p.line(strings.Trim(raw, " \t\r"))
		switch {
		case err != nil:
			bad = append(bad, Complaint{number, err})
		case l != nil:
			found = append(found, l)
		}
	}
	return found, bad
}

// Usable reports whether an htpasswd file lets at least one user in.
func Usable(text string) bool {
	found, _ := Parse(text)
	return len(found) > 0
}

// parser remembers what the lines before have said.
type parser struct {
	users map[string]int
	seen  map[[2]string]bool
}

// line returns nil for one that says nothing, or nothing new.
func (p *parser) line(text string) (*Line, error) {
	if text == "" || text[0] == '#' {
		return nil, nil
	}
	if err := printable(text); err != nil {
		return nil, err
	}
	user, hash, _ := strings.Cut(text, ":")
	if user == "" || hash == "" {
		return nil, errors.New("it is not user:hash")
	}
	if strings.TrimSpace(user) != user {
		return nil, errors.New("the user ends with a blank")
	}
	if p.seen[[2]string{user, hash}] {
		return nil, nil
	}
	if p.users[user] == maxUserLines {
		return nil, fmt.Errorf("its user has %d other lines, which is the most", maxUserLines)
	}
	l, err := newLine(user, hash)
	if err != nil {
		return nil, err
	}
	p.users[user]++
	p.seen[[2]string{user, hash}] = true
	return l, nil
}

// printable keeps out what could not stand in the header that names the user.
func printable(text string) error {
	switch {
	case len(text) > maxLineBytes:
		return fmt.Errorf("it is longer than %d bytes", maxLineBytes)
	case !utf8.ValidString(text):
		return errors.New("it is not UTF-8")
	case strings.ContainsFunc(text, unicode.IsControl):
		return errors.New("it has control characters")
	}
	return nil
}
