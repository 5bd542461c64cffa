// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package sysctl

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
)

// Directory holds the files from which the boot sets kernel parameters.
const Directory = "/etc/sysctl.d"

// Setting is one line of a file.
type Setting struct {
	// Name is the path of the parameter below /proc/sys, such as net/ipv4/ip_forward.
	Name  string
	Value string
	// Optional settings are skipped if the kernel lacks the parameter.
	Optional bool
	// Pattern is set if the name has wildcards. Only the boot applies such settings.
	Pattern bool
}

// IsFile reports whether the boot reads kernel parameters from a path of a configuration.
func IsFile(p string) bool {
	return path.Dir(p) == Directory && strings.HasSuffix(p, ".conf") || p == "/etc/sysctl.conf"
}

// Parse parses a file in the format of sysctl.d.
func Parse(content string) ([]Setting, error) {
	var out []Setting
	number := 0
	for line := range strings.Lines(content) {
		number++
		s, err := parseLine(strings.TrimSpace(line))
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		if s.Name != "" {
			out = append(out, s)
		}
	}
	return out, nil
}

func parseLine(line string) (Setting, error) {
	if line == "" || line[0] == '#' || line[0] == ';' {
		return Setting{}, nil
	}
	name, value, assigns := strings.Cut(line, "=")
	name, optional := strings.CutPrefix(strings.TrimSpace(name), "-")
	name = strings.TrimSpace(name)
	if !assigns && optional { // -name excludes a parameter from a pattern
		return Setting{}, nil
	}
	if !assigns || !isName(name) {
		return Setting{}, errors.New("it is not of the form name = value") // the line can be secret
	}
	pattern := strings.ContainsAny(name, "*?[")
	return Setting{Name: normal(name), Value: Normal(value), Optional: optional, Pattern: pattern}, nil
}

// isName refuses names that could leave /proc/sys.
func isName(name string) bool {
	parts := strings.Split(normal(name), "/")
	return !strings.ContainsAny(name, " \t\x00") && !slices.Contains(parts, "") && !slices.Contains(parts, ".") && !slices.Contains(parts, "..")
}

// normal returns a name with slashes. If the first separator of a name is a dot, dots and slashes have changed places.
func normal(name string) string {
	if i := strings.IndexAny(name, "./"); i < 0 || name[i] == '/' {
		return name
	}
	return strings.Map(func(r rune) rune {
		switch r {
		case '.':
			return '/'
		case '/':
			return '.'
		}
		return r
	}, name)
}

// Normal returns a value with single spaces, because the kernel prints tabs where users write spaces.
func Normal(value string) string { return strings.Join(strings.Fields(value), " ") }

// Merge returns the last setting of each name, of files in the order of their names, as the boot applies them.
func Merge(files map[string]string) (map[string]Setting, error) {
	paths := make([]string, 0, len(files))
	for p := range files {
		paths = append(paths, p)
	}
	slices.SortFunc(paths, func(a, b string) int { return strings.Compare(order(a), order(b)) })
	out := map[string]Setting{}
	for _, p := range paths {
		settings, err := Parse(files[p])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p, err)
		}
		for _, s := range settings {
			if !s.Pattern {
				out[s.Name] = s
			}
		}
	}
	return out, nil
}

// order sorts sysctl.conf last: distributions link it as 99-sysctl.conf.
func order(p string) string {
	if path.Dir(p) == Directory {
		return path.Base(p)
	}
	return "99-sysctl.conf"
}
