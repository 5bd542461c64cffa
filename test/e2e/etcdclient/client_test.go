// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdclient

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// run runs a client with a fake cluster until the client has completed the given number of requests.
func run(t *testing.T, f *fake, requests int) (*Report, []string) {
	t.Helper()
	return runFor(t, f, requests, 30*time.Second)
}

// runFor is like run, but fails the test if the requests take longer than patience.
func runFor(t *testing.T, f *fake, requests int, patience time.Duration) (*Report, []string) {
	t.Helper()
	c, err := Start(t.Context(), Options{
		URLs: []string{"a"}, Prefix: "test/", Think: time.Microsecond, Patience: patience,
		open: func(string) (Store, error) { return f, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(30 * time.Second); c.Totals().Requests < requests && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
	return c.Stop(3 * time.Second)
}

// wantFound fails the test unless one of the violations contains the words.
func wantFound(t *testing.T, violations []string, words string) {
	t.Helper()
	if !slices.ContainsFunc(violations, func(v string) bool { return strings.Contains(v, words) }) {
		t.Errorf("expected a violation with %q, got %d violations: %.2000q", words, len(violations), violations)
	}
}

func TestAClientOfAGoodClusterFindsNothing(t *testing.T) {
	report, violations := run(t, newFake(), 500)
	if len(violations) > 0 {
		t.Errorf("expected no violation, got %q", violations)
	}
	if report.Requests < 500 || report.Writes == 0 || report.Events < 3*report.Writes || report.Unknown > 0 || len(report.Failed) > 0 {
		t.Errorf("expected all requests served, every write received by three watches, got %s", report)
	}
}

func TestAPlantedLostWriteIsFound(t *testing.T) {
	f := newFake()
	// Lose several writes, because a later write may overwrite a lost one before any client reads the key.
	f.forget = func(revision int64) bool { return revision%10 == 0 }
	_, violations := run(t, f, 500)
	wantFound(t, violations, "was not one value at a time")
	wantFound(t, violations, "missed revision 10,")
}

func TestAPlantedStaleReadIsFound(t *testing.T) {
	f := newFake()
	f.stale = func(asked int64) bool { return asked > 100 }
	_, violations := run(t, f, 500)
	wantFound(t, violations, "was not one value at a time")
}

func TestAPlantedWatchGapIsFound(t *testing.T) {
	f := newFake()
	f.hide = func(revision int64) bool { return revision == 100 }
	_, violations := run(t, f, 500)
	wantFound(t, violations, "missed revision 100")
	for _, v := range violations {
		if strings.Contains(v, "one value at a time") {
			t.Errorf("the values were right, got %s", v)
		}
	}
}

func TestAWatchThatStopsReceivingIsFound(t *testing.T) {
	f := newFake()
	f.hide = func(revision int64) bool { return revision >= 100 }
	_, violations := run(t, f, 500)
	wantFound(t, violations, "in the end, watches [w0 w1 w2] missed")
}

func TestRequestsWithoutAnAnswerAreTriedAgainAndAreNoViolation(t *testing.T) {
	f := newFake()
	// Of the requests that get no response, every second one is executed nevertheless.
	f.fail = func(asked int64) (error, bool) {
		if asked%10 == 0 && asked < 2000 {
			return errPlanted, asked%20 == 0
		}
		return nil, true
	}
	report, violations := run(t, f, 500)
	if len(violations) > 0 {
		t.Errorf("expected no violation, got %q", violations)
	}
	if report.Unknown == 0 || len(report.Failed) > 0 {
		t.Errorf("expected attempts without an answer, and no failed request, got %s", report)
	}
}

func TestAClusterThatIsAwayIsReported(t *testing.T) {
	f := newFake()
	f.fail = func(asked int64) (error, bool) {
		if asked > 100 {
			return errPlanted, false
		}
		return nil, true
	}
	report, violations := runFor(t, f, 100, 500*time.Millisecond)
	if len(report.Failed) == 0 {
		t.Errorf("expected failed requests, got %s", report)
	}
	wantFound(t, violations, "in the end, key")
}

func TestAClientDoesNotBeginWithAClusterThatIsAway(t *testing.T) {
	f := newFake()
	f.fail = func(int64) (error, bool) { return errPlanted, false }
	if _, err := Start(t.Context(), Options{URLs: []string{"a"}, Patience: time.Millisecond, open: func(string) (Store, error) { return f, nil }}); err == nil {
		t.Error("a client started although no member answers")
	}
}
