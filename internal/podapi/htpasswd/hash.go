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
	// maxCost is the maximum bcrypt cost. It keeps each password check well below a few seconds.
	maxCost = 15
	// maxBcryptBytes is how many bytes of a password bcrypt uses. A longer password is refused, because any password
	// with the same first bytes would match too.
	maxBcryptBytes = 72

	shaPrefix = "{SHA}"
	// Decoy is a well-formed bcrypt salt and hash. No known password matches it.
	Decoy = "opcrew.opcrew.opcrew.o" + "opcrewopcrewopcrewopcrewopcrewo"
)

var bcryptShape = regexp.MustCompile(`^\$2[aby]\$([0-9]{2})\$[./A-Za-z0-9]{53}$`)

// Line is one line of an htpasswd file: a user and the hash of a password.
type Line struct {
	User string
	Hash string
	cost int    // bcrypt cost
	sum  []byte // SHA-1 hash; nil if the line uses bcrypt
}

// TooCostly is the error for a line whose bcrypt cost is too high. No password is ever checked against such a line.
// Each step of the cost doubles the time of a check: one check with cost 31 takes a day.
type TooCostly struct {
	User string
	Cost int
}

func (c *TooCostly) Error() string {
	return fmt.Sprintf("bcrypt cost %d is above %d; create the entry with htpasswd -B -C 12", c.Cost, maxCost)
}

func newLine(user, hash string) (*Line, error) {
	if encoded, ok := strings.CutPrefix(hash, shaPrefix); ok {
		sum, err := base64.StdEncoding.Strict().DecodeString(encoded)
		if err != nil || len(sum) != sha1.Size {
			return nil, errors.New("the {SHA} hash is not 20 bytes in base64")
		}
		return &Line{User: user, Hash: hash, sum: sum}, nil
	}
	shape := bcryptShape.FindStringSubmatch(hash)
	if shape == nil {
		return nil, errors.New("the hash is neither bcrypt ($2a$, $2b$, $2y$) nor {SHA}")
	}
	cost, _ := strconv.Atoi(shape[1]) // the regular expression matches two digits
	if cost > maxCost {
		return nil, &TooCostly{User: user, Cost: cost}
	}
	if cost < bcrypt.MinCost {
		return nil, fmt.Errorf("the bcrypt cost is below %d", bcrypt.MinCost)
	}
	return &Line{User: user, Hash: hash, cost: cost}, nil
}

// Same reports whether both lines have the same user and hash.
func (l *Line) Same(other *Line) bool { return l.User == other.User && l.Hash == other.Hash }

// Work returns the work of checking a password against the line, as a number of bcrypt rounds.
func (l *Line) Work() uint64 {
	if l.sum != nil {
		return 0
	}
	return 1 << l.cost
}

// Matches reports whether a password matches the line. Every wrong password takes the same time, whatever its length.
func (l *Line) Matches(password string) bool {
	if l.sum != nil {
		sum := sha1.Sum([]byte(password))
		return subtle.ConstantTimeCompare(sum[:], l.sum) == 1
	}
	err := bcrypt.CompareHashAndPassword([]byte(l.Hash), head(password))
	return err == nil && len(password) <= maxBcryptBytes
}

// Waste computes bcrypt hashes without using them, so that response times do not reveal whether a user exists. If bit n
// of work is set, Waste computes one hash with cost n.
func Waste(password string, work uint64) {
	for cost := bcrypt.MinCost; work>>cost > 0; cost++ {
		if work>>cost&1 == 1 {
			_ = bcrypt.CompareHashAndPassword(fmt.Appendf(nil, "$2b$%02d$%s", cost, Decoy), head(password))
		}
	}
}

func head(password string) []byte { return []byte(password[:min(len(password), maxBcryptBytes)]) }
