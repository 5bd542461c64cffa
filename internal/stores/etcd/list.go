// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// hedge is how long a member may take to list the members before the next member is queried too.
const hedge = 300 * time.Millisecond

// listing is a member's list of members, or the error.
type listing struct {
	endpoint string
	cluster  uint64
	members  []Member
	err      error
}

// Members queries one member after another until one can list the members. A learner cannot do this, nor can a member
// without contact with a quorum.
func (r *remote) Members(ctx context.Context) (uint64, []Member, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	endpoints := r.candidates()
	answers := make(chan listing, len(endpoints))
	var errs []error
	for asked := 0; ; {
		if asked < len(endpoints) {
			go func(endpoint string) { answers <- r.list(ctx, endpoint) }(endpoints[asked])
			asked++
		}
		answer, ok := next(ctx, answers, asked < len(endpoints))
		switch {
		case !ok:
			continue // the member has not answered in time: query the next member too
		case answer.err == nil:
			r.follow(answer.endpoint)
			return answer.cluster, answer.members, nil
		}
		errs = append(errs, answer.err)
		if len(errs) == len(endpoints) || ctx.Err() != nil {
			return 0, nil, firstCause(errs)
		}
	}
}

// next waits for an answer, or returns false when it is time to query another member.
func next(ctx context.Context, answers <-chan listing, more bool) (listing, bool) {
	var impatient <-chan time.Time
	if more {
		timer := time.NewTimer(hedge)
		defer timer.Stop()
		impatient = timer.C
	}
	select {
	case answer := <-answers:
		return answer, true
	case <-impatient:
		return listing{}, false
	case <-ctx.Done():
		return listing{err: ctx.Err()}, true
	}
}

// firstCause returns the error that explains most: the error of a voter that answered, else of a member that was
// reached but timed out, which is typical without a quorum.
func firstCause(errs []error) error {
	answered := func(err error) bool {
		refused := rpctypes.EtcdError{}
		return errors.As(err, &refused) && refused.Error() != learnerCannot
	}
	silent := func(err error) bool { return errors.Is(err, context.DeadlineExceeded) }
	for _, says := range []func(error) bool{answered, silent} {
		if i := slices.IndexFunc(errs, says); i >= 0 {
			return errs[i]
		}
	}
	return errs[0]
}

var learnerCannot = rpctypes.ErrorDesc(rpctypes.ErrGRPCNotSupportedForLearner)

// candidates returns the endpoints to query, the last known good one first.
func (r *remote) candidates() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := slices.Clone(r.target.Endpoints)
	if r.voter != "" {
		out = slices.Insert(slices.DeleteFunc(out, func(e string) bool { return e == r.voter }), 0, r.voter)
	}
	return out
}

// follow remembers the endpoint of the member that steps are sent to.
func (r *remote) follow(endpoint string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.voter = endpoint
}

func (r *remote) list(ctx context.Context, endpoint string) listing {
	c, err := r.conn(endpoint)
	if err != nil {
		return listing{err: err}
	}
	if c.before(5) {
		err = c.agree(ctx)
	}
	if err != nil {
		return listing{err: fmt.Errorf("%s: %w", endpoint, typed(err))}
	}
	answer, err := c.MemberList(ctx)
	if err != nil {
		return listing{err: fmt.Errorf("%s: %w", endpoint, typed(err))}
	}
	listed := members(answer.Members)
	if err := checked(listed); err != nil {
		return listing{err: fmt.Errorf("%s: %w", endpoint, err)}
	}
	found := r.target.divide(listed)
	return listing{endpoint: endpoint, cluster: answer.Header.GetClusterId(), members: found}
}

// agree makes the member catch up with a quorum. Before etcd 3.5, a member answers a request for the member list from
// its own data, which may be outdated.
func (c *conn) agree(ctx context.Context) error {
	_, err := c.Get(ctx, "health", clientv3.WithCountOnly())
	for _, later := range []error{rpctypes.ErrUserEmpty, rpctypes.ErrPermissionDenied} {
		if errors.Is(err, later) {
			return nil // the member checks permissions only after it has caught up
		}
	}
	return err
}

func members(theirs []*etcdserverpb.Member) []Member {
	out := make([]Member, 0, len(theirs))
	for _, m := range theirs {
		out = append(out, member(m))
	}
	slices.SortFunc(out, func(a, b Member) int { return cmp.Compare(a.ID, b.ID) })
	return out
}

func member(m *etcdserverpb.Member) Member {
	return Member{ID: m.GetID(), Name: m.GetName(), PeerURLs: m.GetPeerURLs(), ClientURLs: m.GetClientURLs(), Learner: m.GetIsLearner()}
}
