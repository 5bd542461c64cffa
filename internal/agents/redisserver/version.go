// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redisserver

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
)

// version is the version of a server program.
type version struct {
	product      string // Redis or Valkey
	major, minor int
}

// oldest is the first major version that is supported. Redis 7 introduced several append-only files and host names in
// clusters; the first version of Valkey is 7.2.
const oldest = 7

// programs returns the program names to search for on PATH, best first. Images of Valkey may contain both.
func programs() []string { return []string{"valkey-server", "redis-server"} }

func findProgram() (string, error) {
	for _, name := range programs() {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("the image contains no %s", strings.Join(programs(), " and no "))
}

func askVersion(ctx context.Context, program string) (version, error) {
	text, err := exec.CommandContext(ctx, program, "--version").Output()
	if err != nil {
		return version{}, fmt.Errorf("query the version of %s: %w", program, err)
	}
	return parseVersion(string(text))
}

// parseVersion parses the output of --version, such as "Redis server v=7.0.15 sha=00000000:0 malloc=jemalloc-5.3.0
// bits=64 build=1".
func parseVersion(text string) (version, error) {
	product, rest, found := strings.Cut(text, " server v=")
	major, rest, _ := strings.Cut(rest, ".")
	minor, _, _ := strings.Cut(rest, ".")
	v := version{product: product}
	var errMajor, errMinor error
	v.major, errMajor = strconv.Atoi(major)
	v.minor, errMinor = strconv.Atoi(minor)
	if !found || errors.Join(errMajor, errMinor) != nil {
		return v, fmt.Errorf("%.80q contains no version of Redis or Valkey", text)
	}
	if v.major < oldest {
		return v, fmt.Errorf("%s %d.%d is too old; version %d.0 or later is required", product, v.major, v.minor, oldest)
	}
	return v, nil
}

// movesSlots reports whether servers can migrate slots by themselves, as Valkey does since 9.0.
func (v version) movesSlots() bool { return v.product == "Valkey" && v.major >= 9 }

func (v version) String() string { return fmt.Sprintf("%s %d.%d", v.product, v.major, v.minor) }
