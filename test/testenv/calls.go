// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package testenv

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Call is one answered request, or one watch that began.
type Call struct {
	// User is the user of the request: the impersonated one, if any.
	User  string
	Agent string
	// Verb is the server's: get, list, watch, create, update, patch, delete or deletecollection.
	Verb  string
	Group string
	// Resource is empty for paths such as /apis or /readyz.
	Resource, Subresource string
	Namespace, Name       string
	URI                   string
	Code                  int
	// Forbidden: the caller has no right to it. Admission answers 403 too.
	Forbidden bool
	At        time.Time
}

// What is the resource as in a role: "pods", "nodes/status", or the bare path.
func (c Call) What() string {
	switch {
	case c.Resource == "":
		path, _, _ := strings.Cut(c.URI, "?")
		return path
	case c.Subresource != "":
		return c.Resource + "/" + c.Subresource
	default:
		return c.Resource
	}
}

// String reads as a line of a report.
func (c Call) String() string {
	name := strings.TrimPrefix(c.Namespace+"/"+c.Name, "/")
	return fmt.Sprintf("%s %s %s %s -> %d (%s, %s)", c.At.Format("15:04:05.000"), c.Verb, c.What(), name, c.Code, c.User, c.Agent)
}

// IsWrite reports whether the request would change something, even if it was refused
// or only a dry run.
func (c Call) IsWrite() bool {
	return slices.Contains([]string{"create", "update", "patch", "delete", "deletecollection"}, c.Verb)
}

// IsCounted reports whether the request counts against an operator that should be
// at rest: everything but leases, events, token and access reviews, and watches,
// which a client must open again from time to time.
func (c Call) IsCounted() bool {
	switch {
	case c.Verb == "watch", c.Resource == "events":
		return false
	default:
		return !slices.Contains([]string{"coordination.k8s.io", "authentication.k8s.io", "authorization.k8s.io"}, c.Group)
	}
}

// Calls are requests in the order in which they were answered. Its methods narrow
// them down and can be chained.
type Calls []Call

// Where keeps the calls that match.
func (cs Calls) Where(match func(Call) bool) Calls {
	var kept Calls
	for _, c := range cs {
		if match(c) {
			kept = append(kept, c)
		}
	}
	return kept
}

// By keeps the calls of one user.
func (cs Calls) By(user string) Calls {
	return cs.Where(func(c Call) bool { return c.User == user })
}

// Agent keeps the calls whose user agent begins with prefix: a client that sets
// rest.Config.UserAgent can be distinguished from others of the same user.
func (cs Calls) Agent(prefix string) Calls {
	return cs.Where(func(c Call) bool { return strings.HasPrefix(c.Agent, prefix) })
}

// Verb keeps the calls with one of the verbs.
func (cs Calls) Verb(verbs ...string) Calls {
	return cs.Where(func(c Call) bool { return slices.Contains(verbs, c.Verb) })
}

// On keeps the calls on one of the resources, written as in a role: "nodes" is
// not "nodes/status".
func (cs Calls) On(resources ...string) Calls {
	return cs.Where(func(c Call) bool { return slices.Contains(resources, c.What()) })
}

// Named keeps the calls on the object of that name.
func (cs Calls) Named(namespace, name string) Calls {
	return cs.Where(func(c Call) bool { return c.Namespace == namespace && c.Name == name })
}

// Writes keeps the calls that would change something.
func (cs Calls) Writes() Calls { return cs.Where(Call.IsWrite) }

// Counted keeps the calls that count against an operator at rest.
func (cs Calls) Counted() Calls { return cs.Where(Call.IsCounted) }

// Refused keeps the calls that the server answered with an error.
func (cs Calls) Refused() Calls { return cs.Where(func(c Call) bool { return c.Code >= 400 }) }

// Tally counts by verb and resource: "patch nodes/status": 3. Tests compare it as a
// whole, so that unexpected calls fail them too.
func (cs Calls) Tally() map[string]int {
	tally := map[string]int{}
	for _, c := range cs {
		tally[c.Verb+" "+c.What()]++
	}
	return tally
}

// String lists the calls, one to a line, at most the first 40.
func (cs Calls) String() string {
	const most = 40
	var b strings.Builder
	for _, c := range cs[:min(len(cs), most)] {
		fmt.Fprintf(&b, "  %s\n", c)
	}
	if len(cs) > most {
		fmt.Fprintf(&b, "  ... and %d more\n", len(cs)-most)
	}
	return b.String()
}
