// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package authproxy

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
	// decoy has the shape of salt and hash, and no known password.
	decoy = "opcrew.opcrew.opcrew.o" + "opcrewopcrewopcrewopcrewopcrewo"
)

var bcryptShape = regexp.MustCompile(`^\$2[aby]\$([0-9]{2})\$[./A-Za-z0-9]{53}$`)

// line is a user and the hash of one of their passwords.
type line struct {
	user string
	hash string
	cost int    // of bcrypt
	sum  []byte // of SHA-1, in place of bcrypt

	memory memory // of the password that it was last found to hold
}

func newLine(user, hash string) (*line, error) {
	if encoded, ok := strings.CutPrefix(hash, shaPrefix); ok {
		sum, err := base64.StdEncoding.Strict().DecodeString(encoded)
		if err != nil || len(sum) != sha1.Size {
			return nil, errors.New("its {SHA} hash is not 20 bytes in base64")
		}
		return &line{user: user, hash: hash, sum: sum}, nil
	}
	shape := bcryptShape.FindStringSubmatch(hash)
	if shape == nil {
		return nil, errors.New("its hash is neither bcrypt ($2a$, $2b$, $2y$) nor {SHA}")
	}
	cost, _ := strconv.Atoi(shape[1]) // two digits, by the expression
	if cost < bcrypt.MinCost || cost > maxCost {
		return nil, fmt.Errorf("its bcrypt cost is not within %d and %d", bcrypt.MinCost, maxCost)
	}
	return &line{user: user, hash: hash, cost: cost}, nil
}

// same holds for a line that was only read again.
func (l *line) same(other *line) bool { return l.user == other.user && l.hash == other.hash }

// work is what a check of the line costs, in rounds of bcrypt.
func (l *line) work() uint64 {
	if l.sum != nil {
		return 0
	}
	return 1 << l.cost
}

// matches takes the same time for every wrong password, also for one that is too long.
func (l *line) matches(password string) bool {
	if l.sum != nil {
		sum := sha1.Sum([]byte(password))
		return subtle.ConstantTimeCompare(sum[:], l.sum) == 1
	}
	err := bcrypt.CompareHashAndPassword([]byte(l.hash), head(password))
	return err == nil && len(password) <= maxBcryptBytes
}

// waste spends work rounds of bcrypt, so that who asks cannot tell by the time whether
// a user exists: every set bit is one hash of that cost.
func waste(password string, work uint64) {
	for cost := bcrypt.MinCost; work>>cost > 0; cost++ {
		if work>>cost&1 == 1 {
			_ = bcrypt.CompareHashAndPassword(fmt.Appendf(nil, "$2b$%02d$%s", cost, decoy), head(password))
		}
	}
}

func head(password string) []byte { return []byte(password[:min(len(password), maxBcryptBytes)]) }
