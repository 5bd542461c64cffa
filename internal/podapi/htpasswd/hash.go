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
	// maxCost keeps a password check well below a few seconds.
	maxCost = 15
	// maxBcryptBytes is how many bytes of a password bcrypt uses. Longer passwords are refused, because two that differ
	// only after this length would both match.
	maxBcryptBytes = 72

	shaPrefix = "{SHA}"
	// Decoy is a well-formed salt and hash for which no password is known.
	Decoy = "opcrew.opcrew.opcrew.o" + "opcrewopcrewopcrewopcrewopcrewo"
)

var bcryptShape = regexp.MustCompile(`^\$2[aby]\$([0-9]{2})\$[./A-Za-z0-9]{53}$`)

// Line is a user and the hash of one of their passwords.
type Line struct {
	User string
	Hash string
	cost int    // bcrypt cost
	sum  []byte // SHA-1 hash, if the line does not use bcrypt
}

// TooCostly is a line that is never compared with a password: each step of the cost doubles the time, and that of 31 is a day.
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
	cost, _ := strconv.Atoi(shape[1]) // the expression matches two digits
	if cost > maxCost {
		return nil, &TooCostly{User: user, Cost: cost}
	}
	if cost < bcrypt.MinCost {
		return nil, fmt.Errorf("the bcrypt cost is below %d", bcrypt.MinCost)
	}
	return &Line{User: user, Hash: hash, cost: cost}, nil
}

// Same reports whether both lines are equal.
func (l *Line) Same(other *Line) bool { return l.User == other.User && l.Hash == other.Hash }

// Work returns the cost of checking the line, in rounds of bcrypt.
func (l *Line) Work() uint64 {
	if l.sum != nil {
		return 0
	}
	return 1 << l.cost
}

// Matches reports whether the line has this password. It takes the same time for every wrong password, however long.
func (l *Line) Matches(password string) bool {
	if l.sum != nil {
		sum := sha1.Sum([]byte(password))
		return subtle.ConstantTimeCompare(sum[:], l.sum) == 1
	}
	err := bcrypt.CompareHashAndPassword([]byte(l.Hash), head(password))
	return err == nil && len(password) <= maxBcryptBytes
}

// Waste spends rounds of bcrypt, so that response times do not show whether a user exists. Each bit of work that is set
// stands for one hash of that cost.
func Waste(password string, work uint64) {
	for cost := bcrypt.MinCost; work>>cost > 0; cost++ {
		if work>>cost&1 == 1 {
			_ = bcrypt.CompareHashAndPassword(fmt.Appendf(nil, "$2b$%02d$%s", cost, Decoy), head(password))
		}
	}
}

func head(password string) []byte { return []byte(password[:min(len(password), maxBcryptBytes)]) }
