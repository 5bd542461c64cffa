// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package firewalld

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/opcrew/opcrew/internal/agents/hostfirewall/opening"
)

// mark begins each rule of opcrew. firewalld has priorities since version 0.7. Rules with a positive priority come after
// those without (firewalld.richlanguage, section Priority). Its last one, 32767, is for rules that log what is left.
const mark = `rule priority="32421" `

// form matches the rules that function rule returns. An administrator may use the priority for others.
func form() *regexp.Regexp {
	return regexp.MustCompile(`^` + mark + `(family="ipv[46]" source address="[^" ]+" )?(port port="[0-9-]+" protocol="[a-z]+" )?accept$`)
}

// rule returns a rich rule in the form in which firewalld lists it.
func rule(o opening.Opening) string {
	var out strings.Builder
	out.WriteString(mark)
	if o.From.IsValid() {
		family := "ipv4"
		if o.From.Addr().Is6() {
			family = "ipv6"
		}
		fmt.Fprintf(&out, `family="%s" source address="%s" `, family, o.From)
	}
	if p := o.Ports; p.Protocol != "" {
		port := strconv.Itoa(int(p.First))
		if p.Last != p.First {
			port += "-" + strconv.Itoa(int(p.Last))
		}
		fmt.Fprintf(&out, `port port="%s" protocol="%s" `, port, strings.ToLower(p.Protocol))
	}
	return out.String() + "accept"
}

func rules(openings []opening.Opening) []string {
	var out []string
	for _, o := range openings {
		out = append(out, rule(o))
	}
	return out
}
