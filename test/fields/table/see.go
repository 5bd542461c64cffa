// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package table

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"k8s.io/client-go/util/jsonpath"
)

// See is an observation that a row expects. Examples:
//
//	Deployment/$name {.spec.replicas} = 2     the field has this value
//	Pod {.spec.containers[0].args} ~ --max    the field contains this value, in every pod of the namespace
//	self {.status.url} !~ v1                  the field of the edited object does not contain this value
//	Service/$name                             the object exists
//	no Service/$name                          the object does not exist
type See struct {
	// Absent is true if the observation starts with "no", so that the object must not exist.
	Absent bool
	// Kind is the kind of object, or "self" for the edited object. If Name is empty, the observation applies to all
	// objects of this kind in the namespace.
	Kind, Name string
	// Path is a JSONPath, and Operator is =, ~, != or !~. Both are empty if the observation is only about whether the
	// object exists.
	Path, Operator, Want string
}

var seeSyntax = regexp.MustCompile(`^(no )?([A-Za-z]+)(?:/(\S+))?(?: (\{.*\}) (=|~|!=|!~) ?(.*))?$`)

// UnmarshalJSON parses an observation from its text.
func (s *See) UnmarshalJSON(raw []byte) error {
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		return err
	}
	parts := seeSyntax.FindStringSubmatch(text)
	if parts == nil {
		return fmt.Errorf("%q is not a valid observation; write KIND/NAME {PATH} = VALUE", text)
	}
	*s = See{Absent: parts[1] != "", Kind: parts[2], Name: parts[3], Path: parts[4], Operator: parts[5], Want: parts[6]}
	return nil
}

// Of returns a copy of the observation in which name replaces $name.
func (s See) Of(name string) See {
	for _, text := range []*string{&s.Name, &s.Path, &s.Want} {
		*text = strings.ReplaceAll(*text, "$name", name)
	}
	return s
}

// In returns an error unless the observation holds for the given objects.
func (s See) In(objects []Object) error {
	what := strings.TrimSuffix(s.Kind+"/"+s.Name, "/")
	switch {
	case s.Absent && len(objects) > 0:
		return fmt.Errorf("%s is there", what)
	case s.Absent:
		return nil
	case len(objects) == 0:
		return fmt.Errorf("%s is not there", what)
	case s.Path == "":
		return nil
	}
	for _, object := range objects {
		found, err := value(object, s.Path)
		if err != nil {
			return fmt.Errorf("%s %s: %w", what, s.Path, err)
		}
		if !s.holds(found) {
			return fmt.Errorf("%s %s is %q, expected %s %q", what, s.Path, found, s.Operator, s.Want)
		}
	}
	return nil
}

func (s See) holds(found string) bool {
	operator, negated := strings.CutPrefix(s.Operator, "!")
	held := found == s.Want
	if operator == "~" {
		held = strings.Contains(found, s.Want)
	}
	return held != negated
}

// value returns the value at a JSONPath as text. It separates several values with commas, and returns "" for none.
func value(object Object, path string) (string, error) {
	parser := jsonpath.New("").AllowMissingKeys(true)
	if err := parser.Parse(path); err != nil {
		return "", err
	}
	found, err := parser.FindResults(object)
	if err != nil {
		return "", err
	}
	var out []string
	for _, results := range found {
		for _, result := range results {
			out = append(out, text(result.Interface()))
		}
	}
	return strings.Join(out, ","), nil
}

func text(value any) string {
	if plain, is := value.(string); is {
		return plain
	}
	raw, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	return string(raw)
}
