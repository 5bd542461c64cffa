// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package firewall

import (
	"context"
	"time"

	"github.com/opcrew/opcrew/internal/podapi/nodefirewall"
)

// repeatTime is the time after which a report is written again, in case that another client removed it. The API server
// changes nothing if the report is still there.
const repeatTime = 30 * time.Minute

// report writes what is in the kernel on the Node, if it has changed.
func (a *Agent) report(ctx context.Context) {
	text, err := a.reportText()
	if err != nil {
		a.note(err)
		return
	}
	now := a.Clock.Now()
	if !a.sent.at.IsZero() && a.sent.text == text && now.Sub(a.sent.at) < repeatTime {
		return
	}
	if err := a.Cluster.Report(ctx, text); err != nil {
		a.Log.Warn("The report could not be written", "error", err.Error())
		return
	}
	a.sent = report{text, now}
}

// reportText returns the report; "" if there is nothing of opcrew in the kernel, and nothing should be.
func (a *Agent) reportText() (string, error) {
	active, err := a.active()
	if err != nil {
		return "", err
	}
	out := nodefirewall.Report{Active: active, Message: a.problem}
	if f := a.state.Failure; f != nil {
		out.Refused, out.Message = f.Rules.revisions(), f.Reason
	}
	order, err := a.Store.Order()
	if err != nil || len(out.Active) == 0 && out.Message == "" && order == "" {
		return "", err
	}
	if out.Others, err = a.Kernel.Others(); err != nil {
		return "", err
	}
	if err := a.reportHost(&out); err != nil {
		return "", err
	}
	return nodefirewall.EncodeReport(out)
}

// active returns the revisions of the rules that the kernel has, as it reads them back.
func (a *Agent) active() (map[string]string, error) {
	if a.state.Confirmed.empty() {
		return nil, nil
	}
	table, err := a.state.Confirmed.table(a.Node)
	if err != nil {
		return nil, err
	}
	is, err := a.Kernel.Active(table)
	if err != nil || !is {
		return nil, err
	}
	return a.state.Confirmed.revisions(), nil
}
