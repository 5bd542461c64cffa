// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package htpasswd

import (
	"crypto/sha1"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"golang.org/x/crypto/bcrypt"
)

const (
	// maxCost keeps one password from taking seconds.
	maxCost = 15
	// maxBcryptBytes of a password count in bcrypt. What is longer is refused: two
	// passwords must not be one.
	maxBcryptBytes = 72

	shaPrefix = "{SHA}"
	// Decoy has the shape of salt and hash, and no known password.
	Decoy = "opcrew.opcrew.opcrew.o" + "opcrewopcrewopcrewopcrewopcrewo"
)

var bcryptShape = regexp.MustCompile(`^\$2[aby]\$([0-9]{2})\$[./A-Za-z0-9]{53}$`)

// Line is a user and the hash of one of their passwords.
type Line struct {
	User string
	Hash string
	cost int    // of bcrypt
	sum  []byte // of SHA-1, in place of bcrypt
}

func newLine(user, hash string) (*Line, error) {
	if encoded, ok := strings.CutPrefix(hash, shaPrefix); ok {
		sum, err := base64.StdEncoding.Strict().DecodeString(encoded)
		if err != nil || len(sum) != sha1.Size {
			return nil, errors.New("its {SHA} hash is not 20 bytes in base64")
		}
		return &Line{User: user, Hash: hash, sum: sum}, nil
	}
	shape := bcryptShape.FindStringSubmatch(hash)
	if shape == nil {
		return nil, errors.New("its hash is neither bcrypt ($2a$, $2b$, $2y$) nor {SHA}")
	}
	cost, _ := strconv.Atoi(shape[1]) // two digits, by the expression
	if cost < bcrypt.MinCost || cost > maxCost {
		return nil, fmt.Errorf("its bcrypt cost is not within %d and %d", bcrypt.MinCost, maxCost)
	}
	return &Line{User: user, Hash: hash, cost: cost}, nil
}

// Same reports whether the other is the same line, read again.
func (l *Line) Same(other *Line) bool { return l.User == other.User && l.Hash == other.Hash }

// Work is what a check of the line costs, in rounds of bcrypt.
func (l *Line) Work() uint64 {
	if l.sum != nil {
		return 0
	}
	return 1 << l.cost
}

// Matches reports whether the line holds a password. It takes the same time for every wrong password, also for one that is too long.
func (l *Line) Matches(password string) bool {
	if l.sum != nil {
		sum := sha1.Sum([]byte(password))
		return subtle.ConstantTimeCompare(sum[:], l.sum) == 1
	}
	err := bcrypt.CompareHashAndPassword([]byte(l.Hash), head(password))
	return err == nil && len(password) <= maxBcryptBytes
}

// Waste spends work rounds of bcrypt, so that the time of an answer does not show whether
// a user exists: every set bit is one hash of that cost.
func Waste(password string, work uint64) {
	for cost := bcrypt.MinCost; work>>cost > 0; cost++ {
		if work>>cost&1 == 1 {
			_ = bcrypt.CompareHashAndPassword(fmt.Appendf(nil, "$2b$%02d$%s", cost, Decoy), head(password))
		}
	}
}

func head(password string) []byte { return []byte(password[:min(len(password), maxBcryptBytes)]) }
