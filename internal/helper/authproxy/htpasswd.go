// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package authproxy

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

// complaint says what is wrong with a line without a part of it: what does not parse
// may well be a password.
type complaint struct {
	line   int
	reason error
}

// parse reads an htpasswd file. Bad lines are left out, so that one of them does not
// lock everybody out.
func parse(text string) ([]*line, []complaint) {
	var found []*line
	var bad []complaint
	p := parser{users: map[string]int{}, seen: map[[2]string]bool{}}
	text = strings.TrimPrefix(text, "\ufeff") // Windows editors begin a file with it
	number := 0
	for raw := range strings.SplitSeq(text, "\n") {
		number++
		l, err := p.line(strings.Trim(raw, " \t\r"))
		switch {
		case err != nil:
			bad = append(bad, complaint{number, err})
		case l != nil:
			found = append(found, l)
		}
	}
	return found, bad
}

// Usable tells whether an htpasswd file lets anybody in.
func Usable(text string) bool {
	found, _ := parse(text)
	return len(found) > 0
}

// parser remembers what the lines before have said.
type parser struct {
	users map[string]int
	seen  map[[2]string]bool
}

// line returns nil for one that says nothing, or nothing new.
func (p *parser) line(text string) (*line, error) {
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
