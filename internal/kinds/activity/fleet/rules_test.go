// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"

	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	"github.com/opcrew/opcrew/internal/kinds/activity/activitytest"
	"github.com/opcrew/opcrew/internal/kinds/activity/run"
)

func TestWhichHostStartsNext(t *testing.T) {
	one, half := intstr.FromInt32(1), intstr.FromString("50%")
	closed := func(in *Input) { in.Limits.Window = &egov1.Window{Schedule: "0 22 * * *", DurationSeconds: 3600} }
	open := func(in *Input) { in.Limits.Window = &egov1.Window{Schedule: "0 11 * * *", DurationSeconds: 7200} }
	for name, c := range map[string]struct {
		in   *Input
		want string
	}{
		"the first host, as one may be unavailable": {input(row("", "", "")), "Pending Waiting +a"},
		"as many as the budget allows":              {input(row("", "", ""), most(2)), "Pending Waiting +a +b"},
		"a percentage is rounded down":              {input(row("", "", ""), func(in *Input) { in.Limits.MaxUnavailable = &half }), "Pending Waiting +a"},
		"none while the budget is used":             {input(row("Running", "", "")), "Running Running"},
		"the next when one has ended":               {input(row("Succeeded", "", "")), "Running Running +b"},
		"recorded hosts come before others":         {input(row("", "starting", ""), most(3)), "Pending Waiting create"},
		"a host that has started is not created":    {input(row("Running", "", ""), func(in *Input) { in.Hosts[0].Starting = true }), "Running Running"},
		"a cordoned host uses the budget":           {input(row("", "cordoned")), "Pending BudgetUsed"},
		"a host that the command broke counts":      {input(row("broken", "", "")), "Running BudgetUsed"},
		"but does not stop a larger one":            {input(row("cordoned", "", ""), most(2)), "Pending Waiting +b"},
		"it comes last":                             {input(row("Succeeded", "cordoned")), "Running Running +b"},
		"within the budget":                         {input(row("cordoned", "cordoned")), "Pending Waiting +a"},
		"an ended host needs no budget":             {input(row("Succeeded", "", "Failed"), failures(1)), "Running Running +b"},
		"hosts of earlier runs are left out":        {input(row("earlier", "", "")), "Pending Waiting +b"},

		"a canary runs alone":                {input(row("", "", ""), most(3), canary(1, 0)), "Pending Waiting +a"},
		"until it has ended":                 {input(row("Running", "", ""), most(3), canary(1, 0)), "Running Running"},
		"then the others follow":             {input(row("Succeeded", "", ""), most(3), canary(1, 0)), "Running Running +b +c"},
		"after it has soaked":                {input(row("Succeeded", "", ""), canary(1, 600), endedAt(-time.Minute)), "Running Soaking 9m0s"},
		"for long enough":                    {input(row("Succeeded", "", ""), canary(1, 600), endedAt(-10*time.Minute)), "Running Running +b"},
		"a later host does not soak":         {input(row("Succeeded", "Succeeded", ""), canary(1, 600), endedAt(0)), "Running Running +c"},
		"its failure stops all":              {input(row("Failed", "", ""), canary(1, 0), failures(2)), "Failed StoppedOnFailure drop"},
		"a failure after it counts as usual": {input(row("Succeeded", "Failed", ""), canary(1, 0), failures(1)), "Running Running +c"},

		"a batch limits the hosts":      {input(row("", "", "", ""), most(4), batches(one, half)), "Pending Waiting +a"},
		"the next begins after it":      {input(row("Succeeded", "", "", ""), most(4), batches(one, half)), "Running Running +b"},
		"not before":                    {input(row("Succeeded", "Running", "", ""), most(4), batches(one, half)), "Running Running"},
		"the rest follows the last one": {input(row("Succeeded", "Succeeded", "", ""), most(4), batches(one, half)), "Running Running +c +d"},

		"a failure stops the run":           {input(row("Failed", "", "")), "Failed StoppedOnFailure drop"},
		"running hosts continue":            {input(row("Failed", "Running", ""), most(2)), "Running StoppedOnFailure drop"},
		"a host that was recorded does not": {input(row("Failed", "starting", ""), most(2)), "Failed StoppedOnFailure drop"},
		"tolerated failures do not":         {input(row("Failed", "", ""), failures(1)), "Running Running +b"},
		"every end but success is one":      {input(row("Unreachable", "Refused", "TimedOut", "Unknown", "Cancelled", ""), failures(4)), "Failed StoppedOnFailure drop"},

		"a cancel ends the active ones":   {input(row("Running", ""), func(in *Input) { in.Cancelled = true }), "Running Cancelled drop cancel"},
		"and then the run":                {input(row("Cancelled", ""), func(in *Input) { in.Cancelled = true }), "Cancelled Cancelled drop cancel"},
		"all have succeeded":              {input(row("Succeeded", "earlier")), "Succeeded Succeeded"},
		"some have not":                   {input(row("Succeeded", "Failed"), failures(1)), "Failed HostsFailed"},
		"no host at all":                  {input(nil), "Pending NoHosts"},
		"no host, as its pool is missing": {input(nil, func(in *Input) { in.NoPool = true }), "Pending NoHosts 1m0s"},
		"outside the window":              {input(row(""), closed), "Pending OutsideWindow 10h0m0s"},
		"in the window":                   {input(row(""), open), "Pending Waiting +a"},
		"recorded hosts wait for it, too": {input(row("starting"), closed), "Pending OutsideWindow 10h0m0s"},
		"a window that is wrong":          {input(row(""), func(in *Input) { in.Limits.Window = &egov1.Window{Schedule: "soon"} }), "Failed BadSchedule drop"},
		"without an approval":             {input(row("starting"), func(in *Input) { in.Unapproved = "ask" }), "Pending AwaitingApproval"},
		"what hinders it":                 {input(row(""), func(in *Input) { in.Obstacle = &run.Obstacle{Reason: "PolicyMissing"} }), "Pending PolicyMissing 10s"},
		"what forbids it":                 {input(row(""), func(in *Input) { in.Obstacle = &run.Obstacle{Reason: "NoRequester", Final: true} }), "Refused NoRequester drop"},
		"Activities that are gone":        {input(row("Running", ""), func(in *Input) { in.Lost = 1 }), "Running Lost drop"},
	} {
		t.Run(name, func(t *testing.T) {
			activitytest.Check(t, "verdict", describe(Decide(c.in)), c.want)
		})
	}
}

func TestOneStepStartsNotMoreHostsThanTheStatusCanRecord(t *testing.T) {
	v := Decide(input(row(repeat(60, "")...), most(60)))
	activitytest.Check(t, "number of hosts", len(v.Start), mostAtOnce)
}

// Each message must say what the user can do.
func TestMessagesNameTheNextStep(t *testing.T) {
	for name, c := range map[string]struct {
		in    *Input
		words []string
	}{
		"stopped":     {input(row("Failed", "Running", ""), most(2)), []string{"did not succeed on 1 host, more than maxFailures (0) allows", "still running on 1 host", "raise spec.run to continue"}},
		"budget used": {input(row("", "cordoned")), []string{"maxUnavailable allows 1 host", "b is cordoned", "raise spec.run with a higher maxUnavailable"}},
		"no hosts":    {input(nil), []string{"no node matches hosts.nodePool web", "starts when a node does"}},
		"no pool":     {input(nil, func(in *Input) { in.NoPool = true }), []string{"no node matches hosts.nodePool web, because this NodePool does not exist", "create it, or create another Activity"}},
		"failed":      {input(row("Succeeded", "Failed"), failures(1)), []string{"did not succeed on 1 of 2 hosts", "raise spec.run to run it again"}},
	} {
		message := Decide(c.in).Message
		for _, words := range c.words {
			if !strings.Contains(message, words) {
				t.Errorf("%s: expected %q in %q", name, words, message)
			}
		}
	}
}
