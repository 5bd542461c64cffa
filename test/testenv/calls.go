// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package testenv

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Call is one request that was answered, or one watch that was started.
type Call struct {
	// User is the user of the request, or the impersonated user if there is one.
	User  string
	Agent string
	// Verb is the verb of the audit log: get, list, watch, create, update, patch, delete or deletecollection.
	Verb  string
	Group string
	// Resource is empty for paths such as /apis or /readyz.
	Resource, Subresource string
	Namespace, Name       string
	URI                   string
	Code                  int
	// Forbidden is set if the caller had no right to make the request. A 403 of an admission plugin does not set it.
	Forbidden bool
	At        time.Time
}

// What returns the resource as written in a role, such as "pods" or "nodes/status", or the path if there is none.
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

// String formats the call as one line of a report.
func (c Call) String() string {
	name := strings.TrimPrefix(c.Namespace+"/"+c.Name, "/")
	return fmt.Sprintf("%s %s %s %s -> %d (%s, %s)", c.At.Format("15:04:05.000"), c.Verb, c.What(), name, c.Code, c.User, c.Agent)
}

// IsWrite reports whether the request would change something, even if it was refused or was a dry run.
func (c Call) IsWrite() bool {
	return slices.Contains([]string{"create", "update", "patch", "delete", "deletecollection"}, c.Verb)
}

// IsCounted reports whether an operator at rest must not make the request. All requests count but those for leases,
// events, and token and access reviews, and watches, which a client must reopen from time to time.
func (c Call) IsCounted() bool {
	switch {
	case c.Verb == "watch", c.Resource == "events":
		return false
	default:
		return !slices.Contains([]string{"coordination.k8s.io", "authentication.k8s.io", "authorization.k8s.io"}, c.Group)
	}
}

// Calls are requests in the order in which they were answered. Its methods filter them and can be chained.
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

// Agent keeps the calls whose user agent begins with prefix. It separates clients of the same user that set
// rest.Config.UserAgent.
func (cs Calls) Agent(prefix string) Calls {
	return cs.Where(func(c Call) bool { return strings.HasPrefix(c.Agent, prefix) })
}

// Verb keeps the calls with one of the verbs.
func (cs Calls) Verb(verbs ...string) Calls {
	return cs.Where(func(c Call) bool { return slices.Contains(verbs, c.Verb) })
}

// On keeps the calls on one of the resources, written as in a role: "nodes" does not include "nodes/status".
func (cs Calls) On(resources ...string) Calls {
	return cs.Where(func(c Call) bool { return slices.Contains(resources, c.What()) })
}

// Named keeps the calls on the object with that name.
func (cs Calls) Named(namespace, name string) Calls {
	return cs.Where(func(c Call) bool { return c.Namespace == namespace && c.Name == name })
}

// Writes keeps the calls that would change something.
func (cs Calls) Writes() Calls { return cs.Where(Call.IsWrite) }

// Counted keeps the calls that an operator at rest must not make.
func (cs Calls) Counted() Calls { return cs.Where(Call.IsCounted) }

// Refused keeps the calls that the server answered with an error.
func (cs Calls) Refused() Calls { return cs.Where(func(c Call) bool { return c.Code >= 400 }) }

// Tally counts the calls by verb and resource, such as "patch nodes/status": 3. Tests compare the whole map, so that
// unexpected calls fail them too.
func (cs Calls) Tally() map[string]int {
	tally := map[string]int{}
	for _, c := range cs {
		tally[c.Verb+" "+c.What()]++
	}
	return tally
}

// String lists the calls, one per line, up to the first 40.
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
