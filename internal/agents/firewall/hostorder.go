// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package firewall

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/opcrew/opcrew/internal/podapi/nodefirewall"
)

const (
	// answerTime is how old an answer about the host's firewall may be. Its agent answers every half a minute.
	answerTime = 2 * time.Minute
	// pendingTime is the time between two looks for an answer that has not come yet.
	pendingTime = 5 * time.Second
)

// hostOrder returns the order for the host's firewall. It has no pools if none opens it.
func (r Rules) hostOrder() (nodefirewall.HostOrder, error) {
	var out nodefirewall.HostOrder
	for _, name := range slices.Sorted(maps.Keys(r.Pools)) {
		pool, err := nodefirewall.ParsePool(r.Pools[name])
		if err != nil {
			return out, err
		}
		if pool.OpenHost {
			out.Pools, out.Rules = append(out.Pools, pool.Name), append(out.Rules, pool.Rules...)
		}
	}
	return out, nil
}

// ordered is the order on disk, and the answer to it.
type ordered struct {
	nodefirewall.HostOrder
	exists bool
	broken bool // it cannot be read, so the next order replaces it
	result nodefirewall.HostResult
	// answered is set if the result is about this order.
	answered bool
}

func (a *Agent) ordered() (ordered, error) {
	text, err := a.Store.Order()
	if text == "" || err != nil {
		return ordered{}, err
	}
	out := ordered{exists: true, result: a.Store.Result()}
	out.answered = out.result.Revision == nodefirewall.Revision(text)
	out.HostOrder, err = nodefirewall.ParseOrder(text)
	out.broken = err != nil
	return out, nil
}

// done reports whether the host's firewalls have exactly the rules of the order.
func (o ordered) done() bool { return o.answered && o.result.Message == "" }

// pools returns the pools whose rules the host's firewalls may have.
func (o ordered) pools() []string {
	out := slices.Clone(o.Pools)
	if !o.done() {
		out = append(out, o.Former...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func (o ordered) same(want nodefirewall.HostOrder) bool {
	return o.exists && !o.broken && slices.Equal(o.Pools, want.Pools) && reflect.DeepEqual(o.Rules, want.Rules)
}

// orderHost orders the confirmed rules from the agent of the host's firewall. When no pool opens it any more, it orders
// no rules, and removes the order when that agent has closed what it opened. The order is on disk, so a crash or a boot
// does not lose it.
func (a *Agent) orderHost() error {
	want, err := a.state.Confirmed.hostOrder()
	if err != nil {
		return err
	}
	current, err := a.ordered()
	switch {
	case err != nil:
		return err
	case len(want.Pools) == 0 && current.same(want) && current.done():
		return a.Store.RemoveOrder()
	case current.same(want), len(want.Pools) == 0 && !current.exists:
		return nil
	}
	want.ID, want.Former = max(a.Clock.Now().UnixNano(), current.ID+1), current.pools()
	text, err := nodefirewall.EncodeOrder(want)
	if err != nil {
		return err
	}
	return a.Store.SaveOrder(text)
}

// reportHost adds what the host's firewalls have. Only confirmed rules that are ordered count.
func (a *Agent) reportHost(out *nodefirewall.Report) error {
	want, err := a.state.Confirmed.hostOrder()
	if err != nil {
		return err
	}
	current, err := a.ordered()
	if err != nil || !current.exists && len(want.Pools) == 0 {
		return err
	}
	if current.broken {
		return errors.New("the order for the host's firewall cannot be read, and is written again")
	}
	out.HostPools = current.pools()
	if !current.same(want) {
		out.HostMessage = "the rules could not be ordered: " + a.problem
	} else {
		out.HostMessage = a.lacks(current, out.Others)
	}
	if out.HostMessage != "" {
		return nil
	}
	out.Others, out.Opened = current.result.Tools, map[string]string{}
	for _, pool := range want.Pools {
		out.Opened[pool] = nodefirewall.Revision(a.state.Confirmed.Pools[pool])
	}
	return nil
}

// lacks says why the host's firewalls do not have the rules of an order; "" if they do.
func (a *Agent) lacks(o ordered, others []string) string {
	const firewalld = "firewalld"
	switch {
	case !o.answered:
		return "the agent that changes this firewall has not answered yet; kubectl -n " + nodefirewall.Namespace + " get pods -o wide shows it"
	case a.Clock.Since(o.result.Checked) > answerTime:
		return "the agent that changes this firewall does not answer since " + o.result.Checked.UTC().Format(time.RFC3339)
	case o.result.Message != "":
		return o.result.Message
	case slices.Contains(others, firewalld) && !slices.Contains(o.result.Tools, firewalld):
		return fmt.Sprintf("%[1]s has rules in the kernel and does not answer; start %[1]s, or remove its nftables table", firewalld)
	}
	return ""
}

// hostWait returns how long the agent may wait until it looks for the answer to an order.
func (a *Agent) hostWait() time.Duration {
	if o, err := a.ordered(); err == nil && o.exists && !o.answered {
		return pendingTime
	}
	return checkTime
}
