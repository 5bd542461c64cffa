// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package order

import (
	"bytes"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/opcrew/opcrew/internal/podapi/hostjob"
)

// readSecrets returns the values of environment variables from files of Secrets. Its messages name files, but never
// contain their content.
func readSecrets(dir string, envs map[string]string) (map[string]string, *hostjob.Result) {
	values := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(envs)) {
		text, err := UpTo(filepath.Join(dir, envs[name]), hostjob.MaxArgument+1)
		switch {
		case err != nil:
			return nil, hostjob.Refuse(hostjob.ReasonNoSecret, "the value of %s cannot be read: %v", name, err)
		case bytes.IndexByte(text, 0) >= 0:
			return nil, hostjob.Refuse(hostjob.ReasonNoSecret, "the value of %s contains a NUL character, which is not possible in an environment variable", name)
		case len(name)+1+len(text) > hostjob.MaxArgument:
			return nil, envTooLong(name)
		}
		values[name] = string(text)
	}
	return values, nil
}

// checkLengths refuses commands with arguments or variables that are too long for Linux.
func checkLengths(o hostjob.Order) *hostjob.Result {
	for _, text := range append(o.Args, o.Command) {
		if len(text) > hostjob.MaxArgument {
			return hostjob.Refuse(hostjob.ReasonTooLong, "the command has an argument of %d bytes, but Linux allows at most %d; put the text into a file on the host", len(text), hostjob.MaxArgument)
		}
	}
	for _, env := range o.Envs {
		if name, _, _ := strings.Cut(env, "="); len(env) > hostjob.MaxArgument {
			return envTooLong(name)
		}
	}
	return nil
}

func envTooLong(name string) *hostjob.Result {
	return hostjob.Refuse(hostjob.ReasonEnvTooLong, "the variable %.64s is longer than the %d bytes that Linux allows", name, hostjob.MaxArgument)
}
