// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package firewall

import (
	"maps"
	"slices"
	"time"

	"github.com/opcrew/opcrew/internal/podapi/nodefirewall"
)

const (
	// answerTime is how old an answer about the host's firewall may be. Its agent answers every half a minute.
	answerTime = 2 * time.Minute
	// pendingTime is the time between two looks for an answer that has not come yet.
	pendingTime = 5 * time.Second
	unanswered  = "the agent that changes this firewall has not answered yet; kubectl -n " + nodefirewall.Namespace + " get pods -o wide shows it"
)

// hostOrder returns the order for the host's firewall; "" if no pool has one.
func (r Rules) hostOrder() (string, error) {
	var out nodefirewall.HostOrder
	opens := false
	for _, name := range slices.Sorted(maps.Keys(r.Pools)) {
		pool, err := nodefirewall.ParsePool(r.Pools[name])
		if err != nil {
			return "", err
		}
		if pool.OpenHost {
			opens, out.Rules = true, append(out.Rules, pool.Rules...)
		}
	}
	if !opens {
		return "", nil
	}
	return nodefirewall.EncodeOrder(out)
}

// opened returns the revisions of the pools that open the host's firewall.
func (r Rules) opened() map[string]string {
	out := map[string]string{}
	for name, text := range r.Pools {
		if pool, err := nodefirewall.ParsePool(text); err == nil && pool.OpenHost {
			out[name] = nodefirewall.Revision(text)
		}
	}
	return out
}

// orderHost orders the confirmed rules from the agent of the host's firewall. When no pool opens it any more, it orders
// no rules, and removes the order when that agent has closed what it opened. The order is on disk, so a crash or a boot
// does not lose it.
func (a *Agent) orderHost() error {
	want, err := a.state.Confirmed.hostOrder()
	if err != nil {
		return err
	}
	current, err := a.Store.Order()
	if err != nil || current == want {
		return err
	}
	if want != "" {
		return a.Store.SaveOrder(want)
	}
	none, err := nodefirewall.EncodeOrder(nodefirewall.HostOrder{})
	switch {
	case err != nil:
		return err
	case current != none:
		return a.Store.SaveOrder(none)
	case a.Store.Result().Done(none):
		return a.Store.RemoveOrder()
	}
	return nil
}

// reportHost adds what the host's firewalls have.
func (a *Agent) reportHost(out *nodefirewall.Report) error {
	order, err := a.Store.Order()
	if order == "" || err != nil {
		return err
	}
	out.OpensHost = true
	result := a.Store.Result()
	switch {
	case result.Revision != nodefirewall.Revision(order):
		out.HostMessage = unanswered
	case a.Clock.Since(result.Checked) > answerTime:
		out.HostMessage = "the agent that changes this firewall does not answer since " + result.Checked.UTC().Format(time.RFC3339)
	case result.Message != "":
		out.HostMessage = result.Message
	default:
		out.Opened = a.state.Confirmed.opened()
	}
	return nil
}

// hostWait returns how long the agent may wait until it looks for the answer to an order.
func (a *Agent) hostWait() time.Duration {
	if order, err := a.Store.Order(); err == nil && order != "" && a.Store.Result().Revision != nodefirewall.Revision(order) {
		return pendingTime
	}
	return checkTime
}
