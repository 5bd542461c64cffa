// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package authproxy

import (
	"flag"
	"io"

	"github.com/opcrew/opcrew/internal/agents/shared/flags"
)

// ParseFlags parses the command line. It prints the help to out, and returns errors for the caller to print.
func ParseFlags(args []string, out io.Writer) (Options, error) {
	o := Defaults()
	if err := flags.Parse("auth-proxy", args, out, o.bind); err != nil {
		return o, err
	}
	return o, o.validate()
}

func (o *Options) bind(set *flag.FlagSet) {
	set.Func("route", "`LISTENPORT=UPSTREAMPORT`: forward requests from the first port to the second port on 127.0.0.1; the suffix /h2c selects HTTP/2, which gRPC needs; repeatable", func(text string) error {
		route, err := parseRoute(text)
		o.Routes = append(o.Routes, route)
		return err
	})
	set.Func("health", "`port` that serves /healthz, /readyz and /metrics (default 8090)", func(text string) (err error) {
		o.Health, err = parsePort(text)
		return err
	})
	set.Func("credentials", "`directory` of a mounted Secret with a key htpasswd, .htpasswd or auth; repeatable: the proxy uses the first directory with a valid line", appendTo(&o.Credentials))
	set.Func("exempt-path", "`path` that needs no credentials; it must match exactly; repeatable", appendTo(&o.Exempt))
	set.StringVar(&o.Address, "address", o.Address, "`IP` address to bind the ports to; empty means all addresses")
	set.StringVar(&o.Realm, "realm", o.Realm, "text that browsers show in the password dialog")
	set.StringVar(&o.UserHeader, "user-header", o.UserHeader, "header that names the user to the application")
	set.DurationVar(&o.Drain, "drain", o.Drain, "how long new requests are still served after SIGTERM")
	set.DurationVar(&o.Shutdown, "shutdown-timeout", o.Shutdown, "how long requests in flight may take after the drain time")
	set.DurationVar(&o.ReadHeaderTimeout, "read-header-timeout", o.ReadHeaderTimeout, "how long a client may take to send the header of a request")
	set.DurationVar(&o.IdleTimeout, "idle-timeout", o.IdleTimeout, "how long an idle connection is kept open")
	set.IntVar(&o.MaxHeaderBytes, "max-header-bytes", o.MaxHeaderBytes, "maximum size of a request header in bytes")
}

func appendTo(list *[]string) func(string) error {
	return func(text string) error {
		*list = append(*list, text)
		return nil
	}
}
