// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package testenv

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

var errStopped = errors.New("stopped by the caller")

// eachLine calls use with every complete line after the offset, including the line end. If use returns false, eachLine
// stops and returns errStopped.
func eachLine(file string, offset int64, use func([]byte) bool) error {
	log, err := os.Open(file)
	if err != nil {
		return err
	}
	defer log.Close()
	if _, err := log.Seek(offset, io.SeekStart); err != nil {
		return err
	}
	lines := bufio.NewReaderSize(log, 1<<16)
	for {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return nil // the server has not completed the last line yet
		}
		if err != nil {
			return err
		}
		if !use(line) {
			return errStopped
		}
	}
}

// readCalls returns the requests between two positions in the log. It leaves out the requests by which Audit itself
// marks positions in the log.
func readCalls(file string, from, to int64) (Calls, error) {
	var calls Calls
	var bad error
	err := eachLine(file, from, func(line []byte) bool {
		if from >= to {
			return false
		}
		from += int64(len(line))
		call, err := parseCall(line)
		if err != nil {
			bad = fmt.Errorf("line %q: %w", line, err)
			return false
		}
		if !strings.HasPrefix(call.Name, barrierPrefix) {
			calls = append(calls, call)
		}
		return true
	})
	if errors.Is(err, errStopped) {
		err = bad
	}
	return calls, err
}

// auditEvent contains the fields of an audit.k8s.io/v1 Event that Audit uses.
type auditEvent struct {
	Verb             string
	RequestURI       string
	UserAgent        string
	User             struct{ Username string }
	ImpersonatedUser *struct{ Username string }
	ObjectRef        struct{ APIGroup, Resource, Subresource, Namespace, Name string }
	ResponseStatus   struct{ Code int }
	StageTimestamp   time.Time
	Annotations      map[string]string
}

func parseCall(line []byte) (Call, error) {
	var e auditEvent
	if err := json.Unmarshal(line, &e); err != nil {
		return Call{}, err
	}
	call := Call{
		User: e.User.Username, Agent: e.UserAgent, Verb: e.Verb, URI: e.RequestURI,
		Group: e.ObjectRef.APIGroup, Resource: e.ObjectRef.Resource, Subresource: e.ObjectRef.Subresource,
		Namespace: e.ObjectRef.Namespace, Name: e.ObjectRef.Name,
		Code: e.ResponseStatus.Code, At: e.StageTimestamp,
		Forbidden: e.Annotations["authorization.k8s.io/decision"] == "forbid",
	}
	if e.ImpersonatedUser != nil {
		call.User = e.ImpersonatedUser.Username
	}
	return call, nil
}
