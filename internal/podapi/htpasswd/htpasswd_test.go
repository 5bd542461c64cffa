// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package htpasswd

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// someHash returns a well-formed bcrypt hash with a given cost.
func someHash(cost int) string { return fmt.Sprintf("$2y$%02d$%s", cost, Decoy) }

func TestAnHtpasswdFileIsReadLineByLine(t *testing.T) {
	good := someHash(10)
	for _, test := range []struct {
		name, text string
		users      []string
		bad        []int
	}{
		{"nothing", "", nil, nil},
		{"one line without an end", "ada:" + good, []string{"ada"}, nil},
		{"comments and blank lines", "# who\n\n \t\nada:" + good + "\n#\n", []string{"ada"}, nil},
		{"Windows ends of lines", "ada:" + good + "\r\nbob:" + shaOfOne + "\r\n", []string{"ada", "bob"}, nil},
		{"a byte order mark", "\ufeffada:" + good, []string{"ada"}, nil},
		{"blanks around a line", "  ada:" + good + "\t\n", []string{"ada"}, nil},
		{"the same user with two passwords", "ada:" + good + "\nada:" + shaOfOne, []string{"ada", "ada"}, nil},
		{"the same line twice", "ada:" + good + "\nada:" + good, []string{"ada"}, nil},
		{"ten passwords of one user", many("ada", 10), slices.Repeat([]string{"ada"}, maxUserLines), []int{9, 10}},
		{"no colon", "ada\nbob:" + good, []string{"bob"}, []int{1}},
		{"no user", ":" + good, nil, []int{1}},
		{"a user that ends with a blank", "ada :" + good, nil, []int{1}},
		{"an empty password", "ada:", nil, []int{1}},
		{"a password in the clear", "ada:1", nil, []int{1}},
		{"MD5 of Apache", "ada:$apr1$12345678$abcdefghijklmnopqrstu.", nil, []int{1}},
		{"crypt", "ada:rqXexS6ZhobKA", nil, []int{1}},
		{"a third field", "ada:" + good + ":comment", nil, []int{1}},
		{"bcrypt as 2x", "ada:" + strings.Replace(good, "2y", "2x", 1), nil, []int{1}},
		{"bcrypt that is cut off", "ada:" + good[:59], nil, []int{1}},
		{"bcrypt that costs nothing", "ada:" + someHash(3), nil, []int{1}},
		{"bcrypt that costs minutes", "ada:" + someHash(20), nil, []int{1}},
		{"SHA that is cut off", "ada:{SHA}NWoZK3kTsExUV00Ywo1G5jlUKK", nil, []int{1}},
		{"SHA with trailing bits", "ada:{SHA}NWoZK3kTsExUV00Ywo1G5jlUKKt=", nil, []int{1}},
		{"salted SHA", "ada:{SSHA}NWoZK3kTsExUV00Ywo1G5jlUKKs=", nil, []int{1}},
		{"a NUL", "a\x00da:" + good + "\nbob:" + good, []string{"bob"}, []int{1}},
		{"an end of line inside", "a\rda:" + good, nil, []int{1}},
		{"bytes that are no text", "a\xffda:" + good, nil, []int{1}},
		{"a huge line", strings.Repeat("a", 1<<20) + ":" + good + "\nbob:" + good, []string{"bob"}, []int{1}},
		{"many colons", "a:b:" + good, nil, []int{1}},
		{"a user with letters of the world", "Zoë:" + good, []string{"Zoë"}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			lines, complaints := Parse(test.text)
			var users []string
			for _, l := range lines {
				users = append(users, l.User)
			}
			var bad []int
			for _, c := range complaints {
				bad = append(bad, c.Line)
			}
			if !slices.Equal(users, test.users) || !slices.Equal(bad, test.bad) {
				t.Errorf("read %q with bad lines %v, expected %q with %v", users, bad, test.users, test.bad)
			}
		})
	}
}

// many returns n lines of one user with different costs and hashes.
func many(user string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%s:$2a$%02d$%s%c\n", user, 4+i%3, Decoy[:52], 'a'+rune(i))
	}
	return b.String()
}

func TestAComplaintHasTheNumberOfTheLineAndNotItsContent(t *testing.T) {
	const secret = "hunter2"
	text := strings.Join([]string{secret, "ada:" + secret, secret + ":", secret + " :x", "a:" + secret + "\x00", "a:{SHA}" + secret}, "\n")
	_, complaints := Parse(text)
	if len(complaints) != 6 {
		t.Errorf("%d complaints, expected 6", len(complaints))
	}
	for _, c := range complaints {
		if strings.Contains(c.Reason.Error(), secret) {
			t.Errorf("line %d is shown: %s", c.Line, c.Reason)
		}
	}
}

func FuzzAnyFileIsReadWithoutHarm(f *testing.F) {
	f.Add("ada:" + someHash(4) + "\r\n#x\nbob:" + shaOfOne)
	f.Add("\ufeff\x00:\n::\n" + many("ada", 9))
	f.Fuzz(func(t *testing.T, text string) {
		lines, complaints := Parse(text)
		if most := strings.Count(text, "\n") + 1; len(lines)+len(complaints) > most {
			t.Errorf("%d lines and %d complaints come from %d lines", len(lines), len(complaints), most)
		}
		users := map[string]int{}
		for _, l := range lines {
			users[l.User]++
			if l.User == "" || strings.ContainsAny(l.User, ":\r\n\x00") || users[l.User] > maxUserLines || l.Work() > 1<<maxCost {
				t.Errorf("user %q with cost %d came through", l.User, l.cost)
			}
		}
	})
}

func TestUsersWhoseEntriesAreTooCostlyAreNamedWithWhatToDo(t *testing.T) {
	text := "ada:" + someHash(10) + "\nbob:" + someHash(31) + "\nnot a line\neve:" + someHash(16)
	want := []string{
		"user bob: bcrypt cost 31 is above 15; create the entry with htpasswd -B -C 12",
		"user eve: bcrypt cost 16 is above 15; create the entry with htpasswd -B -C 12",
	}
	if got := Unaffordable(text); !slices.Equal(got, want) {
		t.Errorf("expected %q, got %q", want, got)
	}
	if got := Unaffordable(strings.Repeat("bob:"+someHash(31)+"\n", 1000)); len(got) != mostNamed {
		t.Errorf("expected %d of them at most, got %d", mostNamed, len(got))
	}
}
