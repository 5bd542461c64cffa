// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package testenv

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Call is a request to which the server has responded, or a watch that was started.
type Call struct {
	// User is the user of the request. If the request impersonates a user, it is the impersonated user.
	User  string
	Agent string
	// Verb is the verb in the audit log: get, list, watch, create, update, patch, delete or deletecollection.
	Verb  string
	Group string
	// Resource is empty for paths that address no resource, such as /apis or /readyz.
	Resource, Subresource string
	Namespace, Name       string
	URI                   string
	Code                  int
	// Forbidden is set if the user had no right to make the request. It is not set if an admission plugin refused the
	// request.
	Forbidden bool
	At        time.Time
}

// What returns the resource as roles write it, such as "pods" or "nodes/status". If there is none, it returns the path.
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

// String formats the call as one line of text.
func (c Call) String() string {
	name := strings.TrimPrefix(c.Namespace+"/"+c.Name, "/")
	return fmt.Sprintf("%s %s %s %s -> %d (%s, %s)", c.At.Format("15:04:05.000"), c.Verb, c.What(), name, c.Code, c.User, c.Agent)
}

// IsWrite reports whether the request is of a kind that changes something. It includes refused requests and dry runs.
func (c Call) IsWrite() bool {
	return slices.Contains([]string{"create", "update", "patch", "delete", "deletecollection"}, c.Verb)
}

// IsCounted reports whether an operator that has nothing to do must not make the request. Requests for leases, events,
// token reviews and access reviews do not count. Watches do not count either, because a client must reopen them from
// time to time.
func (c Call) IsCounted() bool {
	switch {
	case c.Verb == "watch", c.Resource == "events":
		return false
	default:
		return !slices.Contains([]string{"coordination.k8s.io", "authentication.k8s.io", "authorization.k8s.io"}, c.Group)
	}
}

// Calls is a list of requests, in the order in which the server responded. Its methods filter the list and can be
// chained.
type Calls []Call

// Where returns the calls for which match returns true.
func (cs Calls) Where(match func(Call) bool) Calls {
	var kept Calls
	for _, c := range cs {
		if match(c) {
			kept = append(kept, c)
		}
	}
	return kept
}

// By returns the calls of one user.
func (cs Calls) By(user string) Calls {
	return cs.Where(func(c Call) bool { return c.User == user })
}

// Agent returns the calls whose user agent starts with prefix. Use it for clients of the same user that differ in
// rest.Config.UserAgent.
func (cs Calls) Agent(prefix string) Calls {
	return cs.Where(func(c Call) bool { return strings.HasPrefix(c.Agent, prefix) })
}

// Verb returns the calls with one of the verbs.
func (cs Calls) Verb(verbs ...string) Calls {
	return cs.Where(func(c Call) bool { return slices.Contains(verbs, c.Verb) })
}

// On returns the calls for one of the resources. Resources are written as in roles: "nodes" does not include
// "nodes/status".
func (cs Calls) On(resources ...string) Calls {
	return cs.Where(func(c Call) bool { return slices.Contains(resources, c.What()) })
}

// Named returns the calls for the object with this name.
func (cs Calls) Named(namespace, name string) Calls {
	return cs.Where(func(c Call) bool { return c.Namespace == namespace && c.Name == name })
}

// Writes returns the calls that are of a kind that changes something.
func (cs Calls) Writes() Calls { return cs.Where(Call.IsWrite) }

// Counted returns the calls that an operator must not make when it has nothing to do.
func (cs Calls) Counted() Calls { return cs.Where(Call.IsCounted) }

// Refused returns the calls to which the server responded with an error.
func (cs Calls) Refused() Calls { return cs.Where(func(c Call) bool { return c.Code >= 400 }) }

// Tally returns the number of calls by verb and resource, such as "patch nodes/status": 3. A test should compare the
// whole map, so that unexpected calls fail the test too.
func (cs Calls) Tally() map[string]int {
	tally := map[string]int{}
	for _, c := range cs {
		tally[c.Verb+" "+c.What()]++
	}
	return tally
}

// String lists the first 40 calls, one per line.
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
