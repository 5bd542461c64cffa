// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/opcrew/opcrew/internal/kinds/activity/activitytest"
)

// Messages of Activities get into status.pipelines of NodePools and into status.fleet, too.
func TestALongExplanationShowsThatItIsCut(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"short":           {"no space left", "no space left"},
		"several lines":   {"no space left\nsecond line", "no space left"},
		"as long as fits": {strings.Repeat("x", 200), strings.Repeat("x", 200)},
		"too long":        {strings.Repeat("x", 201), strings.Repeat("x", 197) + "..."},
		"long letters":    {strings.Repeat("ä", 150), strings.Repeat("ä", 98) + "..."},
	} {
		got := lastMessage(activitytest.Pod(activitytest.FailedAtOnce(""), activitytest.EndedWith(c.text)))
		if got != c.want || !utf8.ValidString(got) {
			t.Errorf("%s: expected a user to read %q, got %q", name, c.want, got)
		}
	}
}
